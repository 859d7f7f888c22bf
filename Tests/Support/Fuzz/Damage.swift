package import Vitals

/// Damage to inputs, chosen by a random number generator.
package enum Damage {
    /// Damages JSON at one place.
    /// - Parameter keepsGrammar: whether it may also be a digit instead of another, which keeps the grammar.
    package static func json(_ bytes: inout [UInt8], keepsGrammar: Bool = false, _ random: inout SplitMix64) {
        guard !bytes.isEmpty else { return }
        let position = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<(keepsGrammar ? 6 : 5), using: &random) {
        case 0: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes.remove(at: position)
        case 2: bytes.insert("0123456789-e.\"{}[],:\n".utf8.randomElement(using: &random) ?? 0, at: position)
        case 3: bytes.removeSubrange(position..<min(position + 9, bytes.count))
        case 4 where keepsGrammar:
            if (48...57).contains(bytes[position]) { bytes[position] = UInt8.random(in: 48...57, using: &random) }
        default: bytes.insert(contentsOf: bytes.prefix(position).suffix(12), at: position)
        }
    }

    /// Damages a packet at one to four places: a bit, one of these values, a byte less or more, or its end.
    package static func packet(_ bytes: inout [UInt8], with values: [UInt8], _ random: inout SplitMix64) {
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let position = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes[position] = values.randomElement(using: &random) ?? 0
            case 2: bytes.remove(at: position)
            case 3: bytes.removeSubrange(position...)
            default: bytes.insert(UInt8.random(in: .min ... .max, using: &random), at: position)
            }
        }
    }

    /// Changes one to six bytes, often to one that a number ends with.
    package static func bytes(_ bytes: inout [UInt8], _ random: inout SplitMix64) {
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            bytes[place] =
                [0, 0xff, 0x80, bytes[place] &+ 1, UInt8.random(in: 0...255, using: &random)]
                .randomElement(using: &random) ?? 0
        }
    }
}
