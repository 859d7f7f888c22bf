import GatewayKit
import Testing

/// A secret is compared as a whole.
@Suite struct SecretMatchTests {
    @Test(arguments: [
        ("abab", "ab"), ("ab", "abab"), ("secret", "secre"), ("secret", "secrets"), ("secret", "Secret"),
        ("secret", "secretsecret"), ("secret", ""), ("", ""), ("", "a"), ("sécret", "secret"),
    ])
    func `a text that is not the whole secret does not match`(secret: String, text: String) {
        #expect(!Secret(secret).matches(text.utf8))
    }

    @Test(arguments: ["a", "secret", "sécret", String(repeating: "0123456789abcdef", count: 6)])
    func `a secret matches itself, and no text that differs in one byte`(secret: String) {
        #expect(Secret(secret).matches(secret.utf8))
        let bytes = Array(secret.utf8)
        for place in bytes.indices {
            for bit in 0..<8 {
                var other = bytes
                other[place] ^= 1 << bit
                #expect(!Secret(secret).matches(other))
            }
        }
    }
}
