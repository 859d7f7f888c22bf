import Foundation

/// What the run was asked for.
struct RunSettings: Sendable {
    /// The gateway's program.
    var gateway: String
    /// A folder for everything that goes afterwards.
    var work: URL
    /// A folder that keeps what takes long to make; `nil` for none.
    var cache: URL?
    /// Shorter, with figures that waver more.
    var isQuick: Bool

    /// The one or the other, by `isQuick`.
    func pick<Value>(quick: Value, full: Value) -> Value { isQuick ? quick : full }
}
