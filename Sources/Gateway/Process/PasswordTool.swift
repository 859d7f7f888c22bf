import Glibc
import Web

/// Makes the file with the password of the pages, for `vitals2mqtt web-password`. Only a hash is kept.
package enum PasswordTool {
    /// The hash of a password, as `password:` of `web:` takes it.
    /// - Throws: what is wrong with the password.
    package static func hash(of password: String) throws(ToolFailure) -> String {
        do throws(PasswordHash.Problem) { return try PasswordHash.make(of: password).text } catch {
            throw ToolFailure(error.description)
        }
    }

    /// Writes a new file that only its owner may read. A file that is there already is replaced.
    /// - Throws: why it cannot be written; then a file that was there is as it was.
    package static func write(_ hash: String, to path: String) throws(ToolFailure) {
        // Beside it first, and then in one step to its place.
        let draft = "\(path).new"
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure(draft) }
        let bytes = Array("\(hash)\n".utf8)
        let isWritten =
            bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) } == bytes.count
            && fsync(file) == 0
        let isClosed = close(file) == 0
        guard isWritten, isClosed, rename(draft, path) == 0 else {
            let failure = failure(draft)
            unlink(draft)
            throw failure
        }
    }

    /// Why the system did not do it.
    private static func failure(_ path: String) -> ToolFailure {
        let reason = String(cString: strerror(errno))
        return ToolFailure("\(path) cannot be written: \(reason). Choose another place, or remove that file.")
    }
}
