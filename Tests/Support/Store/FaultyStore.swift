import Concurrency
import Synchronization
package import Vitals

/// A store with scripted failures: the disk is full, the process dies before or after the commit, the disk is slow.
///
/// After a crash no call returns, as in a dead process, until `endRun` ends the remaining callers.
package final class FaultyStore: Sendable {
    /// The fault of a call.
    package enum Fault: Sendable {
        /// The call fails without changing anything.
        case failure(StoreError)
        /// The process dies before the call changes anything.
        case crashBefore
        /// The process dies after everything is on disk, before the caller knows.
        case crashAfter
        /// The call is delayed by this closure.
        case delay(@Sendable () async -> Void)
    }

    /// The methods of a store.
    package enum Call: String, CaseIterable, Sendable {
        case load, ingest, save, samples, settle, storeDeviceSummary, days, report, begin, complete, unanswered, pending
        case acknowledge, facts, quarantine, releaseQuarantined, statistics, clean, forget, knownDevices
        case notes, saveNotes, waiting, occasion

        /// Whether the method writes.
        package var isWrite: Bool {
            switch self {
            case .samples, .days, .unanswered, .pending, .facts, .statistics, .knownDevices, .notes, .waiting,
                .occasion:
                false
            default: true
            }
        }
    }

    private struct State {
        var calls = 0
        var isCrashed = false
    }
    /// Lets the callers of a crashed store end.
    private let runEnded = Promise<Void>()

    let base: any GatewayStore
    private let fault: @Sendable (Call, _ number: Int) -> Fault?
    private let state = Mutex(State())

    /// Creates a store that asks `fault` before each call, with the call's number from 1.
    package init(_ base: any GatewayStore, fault: @escaping @Sendable (_ call: Call, _ number: Int) -> Fault?) {
        self.base = base
        self.fault = fault
    }

    /// Whether it has crashed: the underlying store can then be closed and reopened.
    package var isCrashed: Bool { state.withLock { $0.isCrashed } }

    /// Crashes now: later calls do not return.
    package func crash() { state.withLock { $0.isCrashed = true } }

    /// Ends all callers of a crashed store, with a `StoreError` of code `closed`.
    package func endRun() { runEnded.fulfil(()) }

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

    /// Waits for `endRun`.
    private func death() async -> StoreError {
        await runEnded.waitUncancelled()
        return StoreError(.closed, "The process of this store is gone.")
    }
}
