import Concurrency
import Logging
import Synchronization
import Vitals

/// Quarantines in the store what the broker does not take, some facts together, so that they share a gap.
final class QuarantineWriter: Sendable {
    /// Time for which refused facts gather. Their places in the window are taken until they are stored.
    private static let delay: Duration = .milliseconds(200)
    /// Wait before the next attempt after the store failed.
    private static let retryDelay: Duration = .seconds(1)

    private struct Waiting {
        var refused: [RefusedFact] = []
        /// Facts that were sent again, and that the broker took.
        var taken: [Int64] = []

        var hasFacts: Bool { !refused.isEmpty || !taken.isEmpty }
    }
    private let waiting = Mutex(Waiting())
    private let due = Signal()
    let outbox: Outbox
    let watermarks: Watermarks
    let inFlight: InFlightPublishes
    let store: any OutboxStore
    let settings: DeliverySettings
    /// It is busy as long as facts wait.
    private let turns: TurnProbe

    init(
        outbox: Outbox, watermarks: Watermarks, inFlight: InFlightPublishes, store: any OutboxStore,
        settings: DeliverySettings,
        turns: TurnProbe
    ) {
        self.turns = turns
        self.outbox = outbox
        self.watermarks = watermarks
        self.inFlight = inFlight
        self.store = store
        self.settings = settings
    }

    /// Quarantines a fact. The window limits how many wait. A new connection empties it and sends the same facts again:
    /// each waits once, however often it is refused while the store takes nothing.
    func add(_ fact: RefusedFact) {
        waiting.withLock { waiting in
            let isKnown = waiting.refused.contains {
                $0.lane == fact.lane && $0.number == fact.number && $0.samples == fact.samples
            }
            if !isKnown { waiting.refused.append(fact) }
        }
        turns.begin()
        due.wake()
    }

    /// The number of facts that wait for the store.
    var count: Int { waiting.withLock { $0.refused.count + $0.taken.count } }

    /// Notes that the broker has a fact that was sent again.
    func taken(_ number: Int64) {
        waiting.withLock { if !$0.taken.contains(number) { $0.taken.append(number) } }
        turns.begin()
        due.wake()
    }

    /// Stores what comes, until the task is cancelled. It outlives connections: a broker may refuse a message and cut the
    /// connection right after that, each time.
    func run() async {
        var failures = RepeatedNotice()
        defer { turns.end() }
        while true {
            if !waiting.withLock({ $0.hasFacts }) { turns.end() }
            await due.wait()
            turns.begin()
            do {
                try await settings.clock.sleep(for: Self.delay)
                while await !storeOnce(&failures) {
                    // The loop continues: the store logs its own error.
                    turns.turn()
                    try await settings.clock.sleep(for: Self.retryDelay)
                }
            } catch { return }
        }
    }

    private func storeOnce(_ failures: inout RepeatedNotice) async -> Bool {
        let batch = waiting.withLock { $0 }
        do throws(StoreError) {
            if !batch.refused.isEmpty { try await store.quarantine(batch.refused, at: settings.clock.now) }
            if !batch.taken.isEmpty { try await store.releaseQuarantined(batch.taken) }
        } catch {
            if failures.isDue("\(error)", at: settings.clock.uptime) {
                settings.logger.error(
                    "What the broker refused cannot be put aside; trying again.",
                    metadata: ["error": "\(error)", "failures": "\(failures.count)"])
            }
            return false
        }
        failures = RepeatedNotice()
        waiting.withLock { waiting in
            waiting.refused.removeFirst(min(batch.refused.count, waiting.refused.count))
            waiting.taken.removeFirst(min(batch.taken.count, waiting.taken.count))
        }
        for fact in batch.refused {
            let (count, isDue) = inFlight.givesUp(fact.reason, at: settings.clock.uptime)
            settings.logger.log(
                level: isDue ? .error : .debug,
                "The broker does not take a message; it is put aside, and replay sends it again.",
                metadata: [
                    "message": "\(fact.number) (\(fact.lane))", "reason": "\(fact.reason)", "times": "\(count)",
                ])
            inFlight.forget(fact.lane, fact.number)
        }
        watermarks.acknowledged(batch.refused.map { .entry($0.lane, $0.number) })
        return true
    }
}
