import Foundation

/// Why an export cannot be read. The code says what the caller can do.
package struct ExportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened.
    package enum Code: String, Sendable, Hashable {
        /// There is no export at the configured place.
        case missing
        /// The file is not whole: it is still being written, or was cut. The next check may find it whole.
        case torn
        /// The file is no export, or of a form that cannot be read. Only another file helps.
        case foreign
        /// A named limit is exceeded.
        case tooLarge
        /// The gateway's own disk or the file's permissions prevent the reading.
        case unavailable
    }
    /// What happened, for a program.
    package var code: Code
    /// What happened and what to do, for a person.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The failure of a system call on a file, with the system's reason.
    static func system(_ what: String, _ path: String, _ number: Int32) -> ExportError {
        ExportError(.unavailable, "\(path) \(what): \(String(cString: strerror(number))).")
    }

    /// The same error, which begins with the file unless it names it.
    func of(_ path: String) -> ExportError {
        message.contains(path) ? self : ExportError(code, "\(path): \(message)")
    }

    package var description: String { message }
}
