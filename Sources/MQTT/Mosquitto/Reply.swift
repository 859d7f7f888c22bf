import Synchronization

/// A value that comes once, from a thread that must not wait, for one task that waits for it.
final class Reply<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case waiting(CheckedContinuation<Result<Value, BrokerError>, Never>)
        case done(Result<Value, BrokerError>)
    }
    private let state = Mutex(State.empty)

    /// Gives the value; only the first one counts.
    func fulfil(_ result: Result<Value, BrokerError>) {
        state.withLock { state in
            switch state {
            case .done: return
            case .empty: break
            case .waiting(let continuation): continuation.resume(returning: result)
            }
            state = .done(result)
        }
    }

    /// Waits for the value, whether or not the task is cancelled.
    func wait() async -> Result<Value, BrokerError> {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                if case .done(let result) = state {
                    continuation.resume(returning: result)
                } else {
                    state = .waiting(continuation)
                }
            }
        }
    }

    /// Waits for the value for at most `limit`.
    /// - Throws: the error that came instead, `.timedOut` with `message`, or `.cancelled`.
    func value(within limit: Duration, orTimeOut message: String) async throws(BrokerError) -> Value {
        let result = await withTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await Task.sleep(for: limit, clock: .continuous)
                    self.fulfil(.failure(BrokerError(.timedOut, message)))
                } catch {
                    self.fulfil(.failure(.cancelled))
                }
            }
            let result = await self.wait()
            group.cancelAll()
            return result
        }
        return try result.get()
    }
}
