/// The hash function SHA-1 (FIPS 180-4, RFC 3174), required for UUIDs of version 5 (RFC 9562, 5.5). Not for security.
///
/// Bytes go one by one into the 16 words of a block, so that a text of any length is hashed in place without
/// allocation: every arriving sample needs an id.
package struct SHA1 {
    private var state: (UInt32, UInt32, UInt32, UInt32, UInt32) = (
        0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0
    )
    /// The block being filled; the bytes not filled yet are zero.
    private var block = InlineArray<16, UInt32>(repeating: 0)
    /// Number of bytes hashed so far.
    private var length: UInt64 = 0

    /// The hash of nothing yet.
    package init() {}

    /// Hashes one more byte.
    mutating func append(_ byte: UInt8) {
        let position = Int(truncatingIfNeeded: length & 63)
        block[position >> 2] |= UInt32(byte) << UInt32(truncatingIfNeeded: 24 - 8 * (position & 3))
        length += 1
        if position == 63 { compress() }
    }

    /// Hashes more bytes.
    package mutating func append(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { append(byte) }
    }

    /// Hashes the eight bytes of a number, most significant byte first.
    mutating func append(bigEndian number: UInt64) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    /// Hashes a number's decimal digits.
    mutating func append(decimal number: Int64) {
        /// Maximum number of digits of a 64-bit number.
        let digitLimit = 20
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var first = digitLimit
        var rest = number.magnitude
        repeat {
            first -= 1
            digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        if number < 0 { append(UInt8(ascii: "-")) }
        for index in first..<digitLimit { append(digits[index]) }
    }

    /// The five words of the hash of all bytes appended.
    package consuming func digest() -> (UInt32, UInt32, UInt32, UInt32, UInt32) {
        let bits = length << 3
        append(0x80)
        // The length takes the last two words of a block. If the text reaches into them, it takes another block.
        if length & 63 > 56 { compress() }
        block[14] = UInt32(truncatingIfNeeded: bits >> 32)
        block[15] = UInt32(truncatingIfNeeded: bits)
        compress()
        return state
    }

    /// Hashes the full block into the state and clears the block.
    private mutating func compress() {
        var (a, b, c, d, e) = state
        for round in 0..<80 {
            let slot = round & 15
            if round >= 16 {
                let mixed = block[(round + 13) & 15] ^ block[(round + 8) & 15] ^ block[(round + 2) & 15] ^ block[slot]
                block[slot] = Self.rotate(mixed, by: 1)
            }
            let (choice, constant): (UInt32, UInt32) =
                switch round {
                case ..<20: ((b & c) | (~b & d), 0x5A82_7999)
                case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                case ..<60: ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let next = Self.rotate(a, by: 5) &+ choice &+ e &+ constant &+ block[slot]
            (e, d, c, b, a) = (d, c, Self.rotate(b, by: 30), a, next)
        }
        state = (state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e)
        for slot in 0..<16 { block[slot] = 0 }
    }

    private static func rotate(_ word: UInt32, by bits: UInt32) -> UInt32 {
        (word &<< bits) | (word &>> (32 - bits))
    }
}
