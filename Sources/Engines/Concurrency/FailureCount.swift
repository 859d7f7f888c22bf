/// Counts failures in a row, and says which are worth a line in the log: the first, the second, the fourth and so on, so
/// that trouble that lasts for days fills no log.
package struct FailureCount: Sendable {
    package private(set) var count = 0

    package init() {}

    /// Counts one more. Returns whether it is to be told.
    package mutating func addIsTold() -> Bool {
        count += 1
        return count & (count - 1) == 0
    }
}
