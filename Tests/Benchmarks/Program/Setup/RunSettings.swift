import Foundation

/// The settings of a run.
struct RunSettings: Sendable {
    /// The gateway's program.
    var gateway: String
    /// A folder for everything temporary.
    var work: URL
    /// A folder that keeps what takes long to create; `nil` for none.
    var cache: URL?
    /// Whether the run is shorter, with less stable figures.
    var isQuick: Bool

    /// The value for `isQuick`.
    func pick<Value>(quick: Value, full: Value) -> Value { isQuick ? quick : full }
}
