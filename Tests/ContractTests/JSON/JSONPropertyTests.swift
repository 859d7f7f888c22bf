import JSON
import Testing
import Vitals

@Suite struct JSONPropertyTests {
    private static let seeds: [UInt64] = Array(1...8)

    private func randomValue(_ random: inout SplitMix64, depth: Int = 0) -> JSONValue {
        switch Int.random(in: 0..<(depth < 5 ? 7 : 5), using: &random) {
        case 0: .null
        case 1: .bool(Bool.random(using: &random))
        case 2: .number(Double(Int.random(in: -9_007_199_254_740_992...9_007_199_254_740_992, using: &random)))
        case 3: .number(randomDouble(&random))
        case 4: .string(randomText(&random))
        case 5: .array((0..<Int.random(in: 0..<6, using: &random)).map { _ in randomValue(&random, depth: depth + 1) })
        default:
            .object(
                (0..<Int.random(in: 0..<6, using: &random)).map { number in
                    .init("\(number)" + randomText(&random), randomValue(&random, depth: depth + 1))
                })
        }
    }

    private func randomDouble(_ random: inout SplitMix64) -> Double {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return (Double.random(in: -500...500, using: &random) * 1000).rounded() / 1000
        case 1: return Double.random(in: -1e6...1e6, using: &random)
        default:
            let value = Double(bitPattern: random.next())
            return value.isFinite ? value : 0.25
        }
    }

    private func randomText(_ random: inout SplitMix64) -> String {
        String(
            (0..<Int.random(in: 0..<12, using: &random)).map { _ in
                let limit: UInt32 = Bool.random(using: &random) ? 0x7F : 0x10FFFF
                return Character(Unicode.Scalar(UInt32.random(in: 0...limit, using: &random)) ?? "x")
            })
    }

    @Test(arguments: seeds)
    func `reads back what it wrote`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<400 {
            let value = randomValue(&random)
            #expect(try JSONValue(parsing: value.bytes) == value)
        }
    }

    @Test(arguments: seeds)
    func `reads back every number to the bit`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<4_000 {
            let value = randomDouble(&random)
            var writer = JSONWriter()
            writer.double(value)
            var reader = JSONReader(writer.bytes)
            #expect(try reader.double().bitPattern == value.bitPattern)
            #expect(writer.bytes.count <= value.description.utf8.count)
        }
    }

    @Test(arguments: seeds)
    func `never traps on a damaged document, and both readers agree on it`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var refused = 0
        for _ in 0..<3_000 {
            var bytes = randomValue(&random).bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) { damage(&bytes, &random) }
            let value = try? JSONValue(parsing: bytes)
            var reader = JSONReader(bytes)
            let skipped: Void? = try? {
                try reader.skip()
                try reader.expectEnd()
            }()
            if value == nil { refused += 1 }
            // Skipping checks only the grammar; a number may still be too great for a Double.
            if value != nil { #expect(skipped != nil, "\(String(decoding: bytes, as: UTF8.self))") }
            if let value { #expect((try? JSONValue(parsing: value.bytes)) == value) }
        }
        #expect(refused > 500)
    }

    private func damage(_ bytes: inout [UInt8], _ random: inout SplitMix64) {
        guard !bytes.isEmpty else { return }
        let position = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes.removeSubrange(position...)
        case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: position)
        case 3:
            bytes.insert(
                contentsOf: "[]{}\",:\\-.e0tfn".utf8.randomElement(using: &random).map { [$0] } ?? [], at: position)
        default: bytes.remove(at: position)
        }
    }
}
