import Concurrency
import GatewayKit
import Synchronization

/// Our calls that await the device's answer, by id.
///
/// An answer may arrive before its caller waits for it, because the caller writes first; it is kept until then.
final class PendingCalls: Sendable {
    typealias Answer = Result<[UInt8], DeviceError>

    private struct State {
        var lastID: Int64 = 0
        var calls: [Int64: Promise<Answer>] = [:]
        var end: DeviceError?
    }
    private let state = Mutex(State())

    /// How many calls are open.
    var count: Int { state.withLock { $0.calls.count } }

    /// Opens a call and returns its id.
    /// - Throws: the error that ended the session, if it has ended.
    func open() throws(DeviceError) -> Int64 {
        let (id, end) = state.withLock { state -> (Int64, DeviceError?) in
            if state.end == nil {
                state.lastID += 1
                state.calls[state.lastID] = Promise()
            }
            return (state.lastID, state.end)
        }
        if let end { throw end }
        return id
    }

    /// Waits for the answer to an open call, and closes the call.
    /// - Throws: the device's error; `disconnected` if the session ends or the task is cancelled meanwhile.
    func answer(to id: Int64) async throws(DeviceError) -> [UInt8] {
        let (call, end) = state.withLock { ($0.calls[id], $0.end) }
        guard let call else { throw end ?? Self.cancelled }
        defer { close(id) }
        let answer: Answer
        do { answer = try await call.wait() } catch { throw Self.cancelled }
        return try answer.get()
    }

    /// Delivers an answer to its call. An answer without a call is dropped.
    func complete(_ id: Int64, _ answer: Answer) {
        state.withLock { $0.calls[id] }?.fulfil(answer)
    }

    /// Gives up a call whose caller was cancelled or could not write.
    func close(_ id: Int64) { state.withLock { _ = $0.calls.removeValue(forKey: id) } }

    /// Fails all unanswered and all later calls.
    func end(_ error: DeviceError) {
        let calls = state.withLock { state -> [Promise<Answer>] in
            guard state.end == nil else { return [] }
            state.end = error
            return Array(state.calls.values)
        }
        for call in calls { call.fulfil(.failure(error)) }
    }

    private static let cancelled = DeviceError(.disconnected, "The gateway gave up waiting for the device's answer.")
}
