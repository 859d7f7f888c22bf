import JSON
import Vitals

/// Why a device's input was rejected. The reason names members and never values, because it is logged.
struct Malformed: Error, Hashable {
    /// What is wrong, for the author of the device's program.
    let reason: String

    /// The offset in bytes from the beginning of the input; `nil` if the reason names the place.
    let offset: Int?

    init(_ reason: String) {
        self.reason = reason
        offset = nil
    }

    init(_ error: JSONError) {
        reason = error.reason.rawValue
        offset = error.offset
    }

    init(_ violation: Violation) { self.init("\(violation.path) \(violation.message)") }

    /// The reason as a sentence, with the offset relative to its line.
    func sentence(lineStart: Int) -> String {
        offset.map { "\(reason) (byte \($0 - lineStart) of the line)." } ?? "\(reason)."
    }
}
