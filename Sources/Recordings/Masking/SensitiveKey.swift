/// Keys whose values must not appear in a recording, in a configuration or in JSON on a link. A word of the key decides:
/// `token`, `api_key` and `wifiPassword` have secrets.
package enum SensitiveKey {
    /// The value alone gives access.
    private static let secrets: Set<String> = [
        "authorization", "key", "login", "passkey", "passphrase", "password", "pin", "secret", "token",
    ]
    /// The value says which device it is, or whose.
    private static let identities: Set<String> = [
        "email", "name", "owner", "people", "person", "serial", "ssid", "username",
    ]
    /// The value says which device it is, and appears in other forms.
    private static let addresses: Set<String> = ["address", "mac"]
    /// The longest key that is checked, in bytes. The value of a longer one does not appear.
    static let longest = 64

    /// Whether a key has a secret.
    package static func isSecret(_ key: String) -> Bool { words(of: key).contains { secrets.contains($0) } }

    /// Whether a key has the address of a device.
    package static func isAddress(_ key: String) -> Bool { words(of: key).contains { addresses.contains($0) } }

    /// Whether the value of this key says which device it is, or whose.
    package static func isIdentity(_ key: String) -> Bool {
        words(of: key).contains { identities.contains($0) || addresses.contains($0) }
    }

    /// The words of a key in small letters: `api_key` and `apiKey` have two.
    private static func words(of key: String) -> [String] {
        var words: [String] = []
        var word = ""
        var isAfterSmall = false
        for character in key {
            if !character.isLetter || (character.isUppercase && isAfterSmall) {
                if !word.isEmpty { words.append(word) }
                word = ""
            }
            if character.isLetter { word += character.lowercased() }
            isAfterSmall = character.isLowercase
        }
        return word.isEmpty ? words : words + [word]
    }
}
