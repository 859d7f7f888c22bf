import GatewayKit
import Synchronization

/// The calls of ours that wait for the device's answer, each under its id.
///
/// An answer may come before its caller waits for it, because the caller writes first: it is kept then.
final class PendingCalls: Sendable {
    typealias Answer = Result<[UInt8], DeviceError>

    private enum Call {
        case open
        case answered(Answer)
        case waiting(CheckedContinuation<Answer, Never>)
    }
    private struct State {
        var lastID: Int64 = 0
        var calls: [Int64: Call] = [:]
        var end: DeviceError?
    }
    private let state = Mutex(State())

    /// How many calls are open.
    var count: Int { state.withLock { $0.calls.count } }

    /// Opens a call and returns its id.
    /// - Throws: why the session has ended, if it has.
    func open() throws(DeviceError) -> Int64 {
        let (id, end) = state.withLock { state -> (Int64, DeviceError?) in
            if state.end == nil {
                state.lastID += 1
                state.calls[state.lastID] = .open
            }
            return (state.lastID, state.end)
        }
        if let end { throw end }
        return id
    }

    /// Waits for the answer of an open call, and closes the call.
    /// - Throws: the device's error; `disconnected` when the session ends or the task is cancelled meanwhile.
    func answer(to id: Int64) async throws(DeviceError) -> [UInt8] {
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Answer, Never>) in
                let answer = state.withLock { state -> Answer? in
                    switch state.calls[id] {
                    case .answered(let answer)?:
                        state.calls[id] = nil
                        return answer
                    case .open? where !Task.isCancelled:
                        state.calls[id] = .waiting(continuation)
                        return nil
                    default:
                        state.calls[id] = nil
                        return .failure(state.end ?? Self.cancelled)
                    }
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            close(id)
        }
        return try answer.get()
    }

    /// Gives an answer to whom it belongs. One that nobody waits for is dropped.
    func complete(_ id: Int64, _ answer: Answer) {
        let waiting = state.withLock { state -> CheckedContinuation<Answer, Never>? in
            switch state.calls[id] {
            case .open?: state.calls[id] = .answered(answer)
            case .waiting(let continuation)?:
                state.calls[id] = nil
                return continuation
            case .answered?, nil: break
            }
            return nil
        }
        waiting?.resume(returning: answer)
    }

    /// Gives up a call, because its caller was cancelled or could not write.
    func close(_ id: Int64) {
        let call = state.withLock { $0.calls.removeValue(forKey: id) }
        if case .waiting(let continuation) = call { continuation.resume(returning: .failure(Self.cancelled)) }
    }

    /// Fails all calls that have no answer yet, and all that come later.
    func end(_ error: DeviceError) {
        let calls = state.withLock { state -> [Int64: Call] in
            guard state.end == nil else { return [:] }
            state.end = error
            let calls = state.calls
            state.calls = calls.filter { if case .answered = $0.value { true } else { false } }
            return calls
        }
        for case .waiting(let continuation) in calls.values { continuation.resume(returning: .failure(error)) }
    }

    private static let cancelled = DeviceError(.disconnected, "The gateway gave up waiting for the device's answer.")
}
