import Concurrency
import Synchronization
public import Vitals

/// Batches of samples whose driver waits until the gateway has settled all of each: it has an answer to give, or sends the next batch
/// only when this one is durable.
///
/// Call `settle` from the session's `settle`. The marks of the receipts are the batches' own, so a session that uses this sends no
/// other receipts.
public final class SettledBatches: Sendable {
    private struct Batch {
        /// The samples that are not settled yet.
        var missing: Int
        var outcomes: [SettledReceipt.Outcome] = []
        let settled = Promise<[SettledReceipt.Outcome]>()
    }
    /// By their marks.
    private let waiting = Mutex<[String: Batch]>([:])
    private let lastMark = Atomic(0)

    /// Creates an object without batches.
    public init() {}

    /// Sends samples, and returns once all are settled.
    /// - Returns: what the gateway did with each, in the order in which they were settled.
    /// - Throws: `CancellationError` if the task is cancelled before that. What becomes of the samples is unknown then.
    public func send(_ samples: [Sample], to inbox: EventInbox) async throws(CancellationError)
        -> [SettledReceipt.Outcome]
    {
        try await send(samples.count, to: inbox) { .samples(samples, receipts: $0) }
    }

    /// Sends warnings, as `send(_:to:)` sends samples.
    public func send(warnings: [DeviceAlert], to inbox: EventInbox) async throws(CancellationError)
        -> [SettledReceipt.Outcome]
    {
        try await send(warnings.count, to: inbox) { .warnings(warnings, receipts: $0) }
    }

    private func send(
        _ count: Int, to inbox: EventInbox, as event: ([SampleReceipt]) -> DeviceEvent
    ) async throws(CancellationError) -> [SettledReceipt.Outcome] {
        guard count > 0 else { return [] }
        let batch = Batch(missing: count)
        let mark = "\(lastMark.wrappingAdd(1, ordering: .relaxed).newValue)"
        keep(batch, as: mark)
        defer { forget(mark) }
        await inbox.send([event(Array(repeating: SampleReceipt(mark), count: count))])
        return try await batch.settled.wait()
    }

    /// Notes what the gateway reports about samples of these batches. Receipts with other marks change nothing.
    public func settle(_ receipts: [SettledReceipt]) {
        let complete = waiting.withLock { batches -> [Batch] in
            var complete: [Batch] = []
            for settled in receipts {
                let mark = settled.receipt.mark
                guard var batch = batches.removeValue(forKey: mark) else { continue }
                batch.outcomes.append(settled.outcome)
                batch.missing -= 1
                if batch.missing > 0 { batches[mark] = batch } else { complete.append(batch) }
            }
            return complete
        }
        for batch in complete { batch.settled.fulfil(batch.outcomes) }
    }

    /// Their locks must not be inlined in a function that waits: Decision 165.
    @inline(never)
    private func keep(_ batch: Batch, as mark: String) { waiting.withLock { $0[mark] = batch } }

    @inline(never)
    private func forget(_ mark: String) { waiting.withLock { $0[mark] = nil } }
}
