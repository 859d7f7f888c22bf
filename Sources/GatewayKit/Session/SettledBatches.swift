import Concurrency
import Synchronization
public import Vitals

/// Batches of samples, alerts or warnings, whose driver waits until the gateway has settled all of each: it has an answer to give, or
/// sends the next batch only when this one is durable.
///
/// Call `settle` from the session's `settle`. The marks of the receipts are the batches' own, so a session that uses this sends no
/// other receipts.
public final class SettledBatches: Sendable {
    private struct Batch {
        /// The samples that are not settled yet.
        var missing: Int
        /// What is known of each sample, in their order.
        var outcomes: [SettledReceipt.Outcome?]
        let settled = Promise<[SettledReceipt.Outcome]>()

        init(count: Int) {
            missing = count
            outcomes = Array(repeating: nil, count: count)
        }

        /// Notes what became of a sample, once. Returns whether it was the last one.
        mutating func settle(_ place: Int, _ outcome: SettledReceipt.Outcome) -> Bool {
            guard outcomes.indices.contains(place), outcomes[place] == nil else { return false }
            outcomes[place] = outcome
            missing -= 1
            return missing == 0
        }
    }
    /// By their numbers.
    private let waiting = Mutex<[Int: Batch]>([:])
    private let lastNumber = Atomic(0)

    /// Creates an object without batches.
    public init() {}

    /// Sends samples, and returns once all are settled.
    /// - Returns: what the gateway did with each, in their order.
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

    /// Sends alerts by the device's own limits, as `send(_:to:)` sends samples.
    public func send(alerts: [DeviceAlert], to inbox: EventInbox) async throws(CancellationError)
        -> [SettledReceipt.Outcome]
    {
        try await send(alerts.count, to: inbox) { .alerts(alerts, receipts: $0) }
    }

    private func send(
        _ count: Int, to inbox: EventInbox, as event: ([SampleReceipt]) -> DeviceEvent
    ) async throws(CancellationError) -> [SettledReceipt.Outcome] {
        guard count > 0 else { return [] }
        let batch = Batch(count: count)
        let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        add(batch, as: number)
        defer { forget(number) }
        await inbox.send([event((0..<count).map { SampleReceipt("\(number)/\($0)") })])
        return try await batch.settled.wait()
    }

    /// Notes what the gateway reports about samples of these batches. Receipts with other marks change nothing.
    public func settle(_ receipts: [SettledReceipt]) {
        let complete = waiting.withLock { batches -> [Batch] in
            var complete: [Batch] = []
            for settled in receipts {
                let mark = settled.receipt.mark
                guard let slash = mark.firstIndex(of: "/"), let number = Int(mark[..<slash]),
                    let place = Int(mark[mark.index(after: slash)...]),
                    batches[number]?.settle(place, settled.outcome) == true,
                    let batch = batches.removeValue(forKey: number)
                else { continue }
                complete.append(batch)
            }
            return complete
        }
        for batch in complete { batch.settled.fulfil(batch.outcomes.compactMap(\.self)) }
    }

    /// Their locks must not be inlined in a function that waits: Decision 165.
    @inline(never)
    private func add(_ batch: Batch, as number: Int) { waiting.withLock { $0[number] = batch } }

    @inline(never)
    private func forget(_ number: Int) { waiting.withLock { $0[number] = nil } }
}
