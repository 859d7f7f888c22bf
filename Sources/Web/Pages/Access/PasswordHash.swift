import CCrypt
import Glibc

/// The hash of the password of the pages, by the system's libcrypt: yescrypt, whose computation needs time and memory, so that who has
/// the file cannot try many passwords.
package struct PasswordHash: Sendable, Hashable {
    /// The fewest characters of a new password: guesses at the page are slow, and those with the file cost a tenth of a second each.
    package static let shortest = 10
    /// The most bytes of a password: libcrypt takes 512 with its end.
    package static let longest = 511

    /// Why a text is no hash, or no hash can be made, as a sentence.
    package struct Problem: Error, CustomStringConvertible {
        package let description: String
    }

    /// The hash, as in `/etc/shadow`.
    package let text: String

    /// The hash that `vitals2mqtt web-password` has printed.
    /// - Throws: that it is none.
    package init(_ text: String) throws(Problem) {
        // Methods that are no longer considered strong are not taken: a hash of MD5 or DES can be guessed.
        guard ["$y$", "$gy$", "$7$", "$2b$", "$6$"].contains(where: text.hasPrefix), text.utf8.count < 384 else {
            throw Problem(
                description:
                    "This is no hash of a password. Make the file with: vitals2mqtt web-password --write PATH")
        }
        self.text = text
    }

    /// Whether a password is the one. It takes about a tenth of a second of a processor, so it must not run on the threads that all
    /// tasks share.
    package func matches(_ password: String) -> Bool {
        guard password.utf8.count <= Self.longest, let found = Self.result(of: password, by: text) else { return false }
        // In a time that does not depend on how much of it is right.
        let (one, other) = (Array(found.utf8), Array(text.utf8))
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// The hash of a new password.
    /// - Throws: what is wrong with the password, or that the system cannot make a hash.
    package static func make(of password: String) throws(Problem) -> PasswordHash {
        guard password.count >= shortest else {
            throw Problem(
                description: "The password has \(password.count) characters; at least \(shortest) are needed.")
        }
        guard password.utf8.count <= longest, !password.utf8.contains(0) else {
            throw Problem(description: "The password is too long: at most \(longest) bytes are taken.")
        }
        var salt = [CChar](repeating: 0, count: Int(CRYPT_GENSALT_OUTPUT_SIZE))
        let size = Int32(salt.count)
        // Without bytes of ours it takes the system's random ones.
        guard crypt_gensalt_rn("$y$", 0, nil, 0, &salt, size) != nil,
            let hash = result(
                of: password, by: String(decoding: salt.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            )
        else { throw Problem(description: "The system's libcrypt does not know yescrypt.") }
        return try PasswordHash(hash)
    }

    /// The bytes of libcrypt's memory, `struct crypt_data`: 32 KiB, which belong to the heap.
    private static let size = 32_768

    private static func result(of password: String, by setting: String) -> String? {
        let data = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        memset(data, 0, size)
        defer {
            explicit_bzero(data, size)
            data.deallocate()
        }
        guard let found = crypt_r(password, setting, data.assumingMemoryBound(to: crypt_data.self)) else { return nil }
        let text = String(cString: found)
        // A failure is a text that no hash is.
        return text.hasPrefix("*") ? nil : text
    }
}
