import Listening
import Testing

@Suite struct SecretHashTests {
    /// The examples of FIPS 180-4 and of `sha1sum`, with lengths around the end of a block.
    @Test(arguments: [
        ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
        (String(repeating: "a", count: 100_000), "c4d4b30851182fc4eb8675494d42fd7f17e29c93"),
        (String(repeating: "ü", count: 32), "1e6e4b1df3264037c8cbe580b19c2cfa15c212fe"),
        (String(repeating: "x", count: 55), "cef734ba81a024479e09eb5a75b6ddae62e6abf1"),
    ])
    func `is SHA-1 in small hexadecimal digits`(secret: String, hash: String) {
        #expect(SecretHash.of(secret) == hash)
    }
}
