import Testing

@testable import Vitals

@Suite struct SHA1Tests {
    private func hash(_ text: some Sequence<UInt8>) -> String {
        var hash = SHA1()
        hash.append(text)
        let words = hash.digest()
        return [words.0, words.1, words.2, words.3, words.4].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }

    /// The vectors of RFC 3174, 7.3, and of FIPS 180.
    @Test(arguments: [
        ("abc", 1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1, "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
        ("a", 1_000_000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
        (
            "0123456701234567012345670123456701234567012345670123456701234567", 10,
            "dea356a2cddd90c7a7ecedc5ebb563934f460452"
        ),
        ("", 1, "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
    ])
    func `gives the published hashes`(text: String, repetitions: Int, expected: String) {
        #expect(hash(String(repeating: text, count: repetitions).utf8) == expected)
    }

    /// Lengths around the ends of blocks, of the bytes 0, 1, … 250, 0, …; hashes by Python's `hashlib`.
    @Test(arguments: [
        (1, "5ba93c9db0cff93f52b521d7420e43f6eda2784f"), (55, "8ae2d46729cfe68ff927af5eec9c7d1b66d65ac2"),
        (56, "636e2ec698dac903498e648bd2f3af641d3c88cb"), (63, "6d942da0c4392b123528f2905c713a3ce28364bd"),
        (64, "c6138d514ffa2135bfce0ed0b8fac65669917ec7"), (65, "69bd728ad6e13cd76ff19751fde427b00e395746"),
        (119, "41c89d06001bab4ab78736b44efe7ce18ce6ae08"), (120, "d3dbd653bd8597b7475321b60a36891278e6a04a"),
        (1000, "c9c960a0b925474fab83942cc27d504fc24ac37b"),
    ])
    func `hashes texts of any length`(length: Int, expected: String) {
        #expect(hash((0..<length).map { UInt8($0 % 251) }) == expected)
    }

    @Test(arguments: [0, 7, -1, 1_795_000_000_000, Int64.min, Int64.max])
    func `writes numbers as their decimal digits`(number: Int64) {
        var byNumber = SHA1()
        byNumber.append(decimal: number)
        var byText = SHA1()
        byText.append(String(number).utf8)
        #expect(byNumber.digest() == byText.digest())
    }
}
