import Foundation

/// Stands in for `Synchronization.Mutex` under the thread sanitizer, which does not know the futexes that one is made of and
/// would report every access as a race. The build of `deploy/test --threads` has a copy in each module.
final class Mutex<Value>: @unchecked Sendable {  // the value is touched under the lock only
    private let lock = NSLock()
    private nonisolated(unsafe) var value: Value

    /// Protects a value.
    init(_ value: sending Value) { self.value = value }

    /// Gives the value to one caller at a time.
    func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
