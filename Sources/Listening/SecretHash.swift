import Vitals

/// The hash of a secret that apps send in its place: SHA-1 (FIPS 180-4) in 40 hexadecimal digits in lower case, as Nightscout wants it.
///
/// Listeners keep the hashes of tokens, so that they can compare both. It does not protect: whoever has it can send it, too, and can try
/// short secrets until one fits.
package enum SecretHash {
    /// The hash of a secret's UTF-8.
    package static func of(_ secret: String) -> String {
        var hash = SHA1()
        hash.append(secret.utf8)
        let words = hash.digest()
        return Hexadecimal.text(
            [words.0, words.1, words.2, words.3, words.4].flatMap { word in
                withUnsafeBytes(of: word.bigEndian) { Array($0) }
            })
    }
}
