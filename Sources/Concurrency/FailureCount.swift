/// Counts failures in a row and decides which to log: the first, second, fourth and so on, so that a fault that lasts
/// for days does not fill the log.
package struct FailureCount: Sendable {
    package private(set) var count = 0

    package init() {}

    /// Counts a failure. Returns whether to log it.
    package mutating func countAndDecideToLog() -> Bool {
        count += 1
        return count & (count - 1) == 0
    }
}
