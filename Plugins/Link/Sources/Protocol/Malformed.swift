import JSON
import Vitals

/// Why something from the device is not used. The reason names members and never values: it is logged.
struct Malformed: Error, Hashable {
    /// What is wrong, for the author of the device's program.
    let reason: String

    init(_ reason: String) { self.reason = reason }

    init(_ error: JSONError) { reason = "\(error.reason.rawValue)." }

    init(_ violation: Violation) { reason = "\(violation.path) \(violation.message)." }
}
