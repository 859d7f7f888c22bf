#if THREAD_SANITIZER
    import Foundation

    /// Replaces `Synchronization.Mutex` under the thread sanitizer, which does not know the futexes it is made of and
    /// would report every access as a race.
    final class Mutex<Value>: @unchecked Sendable {  // the value is touched under the lock only
        private let lock = NSLock()
        private var value: Value

        init(_ value: sending Value) { self.value = value }

        func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
            lock.lock()
            defer { lock.unlock() }
            return body(&value)
        }
    }
#endif
