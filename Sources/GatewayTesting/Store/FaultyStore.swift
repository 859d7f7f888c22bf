package import Engines
import Synchronization

/// A store that fails as a script says: the disk is full, the process dies before or after the commit, the disk is slow.
///
/// After a crash no call returns, as for a process that is gone, until `bury` ends the callers that are left.
package final class FaultyStore: Sendable {
    /// What goes wrong with a call.
    package enum Fault: Sendable {
        /// It fails and has changed nothing.
        case failure(StoreError)
        /// The process dies before the call has changed anything.
        case crashBefore
        /// The process dies when everything is on disk and the caller does not know yet.
        case crashAfter
        /// It takes its time: as long as this takes.
        case delay(@Sendable () async -> Void)
    }

    /// The methods of a store.
    package enum Call: String, CaseIterable, Sendable {
        case load, take, save, samples, settle, keepDeviceSummary, days, report, begin, finish, unanswered, pending
        case pendingAnswers, acknowledge, facts, statistics, clean, forget, knownDevices

        /// Whether the method writes.
        package var isWrite: Bool {
            switch self {
            case .samples, .days, .unanswered, .pending, .pendingAnswers, .facts, .statistics, .knownDevices:
                false
            default: true
            }
        }
    }

    private struct State {
        var calls = 0
        var isCrashed = false
        var isBuried = false
        var callers: [CheckedContinuation<Void, Never>] = []
    }

    let base: any GatewayStore
    private let fault: @Sendable (Call, _ number: Int) -> Fault?
    private let state = Mutex(State())

    /// A store that asks `fault` before each call, with the call's number from 1.
    package init(_ base: any GatewayStore, fault: @escaping @Sendable (_ call: Call, _ number: Int) -> Fault?) {
        self.base = base
        self.fault = fault
    }

    /// Whether it has crashed: the store below can be closed and opened again now.
    package var isCrashed: Bool { state.withLock { $0.isCrashed } }

    /// Crashes now: calls from here on do not return.
    package func crash() { state.withLock { $0.isCrashed = true } }

    /// Lets all callers of a crashed store end, with `StoreError` of code `closed`.
    package func bury() {
        let callers = state.withLock { state in
            state.isBuried = true
            defer { state.callers = [] }
            return state.callers
        }
        for caller in callers { caller.resume() }
    }

    func through<Value>(
        _ call: Call, _ body: () async throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let number = state.withLock { state in
            state.calls += 1
            return state.calls
        }
        if isCrashed { throw await death() }
        switch fault(call, number) {
        case nil: break
        case .failure(let error): throw error
        case .crashBefore:
            crash()
            throw await death()
        case .crashAfter:
            _ = try await body()
            crash()
            throw await death()
        case .delay(let wait): await wait()
        }
        let value = try await body()
        if isCrashed { throw await death() }
        return value
    }

    /// Returns when the callers are let go.
    private func death() async -> StoreError {
        await withCheckedContinuation { continuation in
            let isBuried = state.withLock { state in
                if !state.isBuried { state.callers.append(continuation) }
                return state.isBuried
            }
            if isBuried { continuation.resume() }
        }
        return StoreError(.closed, "The process of this store is gone.")
    }
}
