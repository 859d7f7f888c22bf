import JSON
import Vitals

/// Why something from the device is not used. The reason names members and never values: it is logged.
struct Malformed: Error, Hashable {
    /// What is wrong, for the author of the device's program.
    let reason: String

    /// Where, in bytes from the beginning of what was read; `nil` where the reason says it by name.
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

    /// The reason as a sentence, with the place counted from the beginning of its line.
    func sentence(lineStart: Int) -> String {
        offset.map { "\(reason) (byte \($0 - lineStart) of the line)." } ?? "\(reason)."
    }
}
