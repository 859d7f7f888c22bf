import Concurrency
import Logging
import Vitals

/// Stores for each lane the number up to which the broker has everything, so that a crash repeats few messages.
struct Watermarks: Sendable {
    /// Lanes whose watermarks are stored at once, because users notice a repeated alert or answer.
    private static let urgentLanes: [Lane] = [.alert, .answer]
    private static let bulkLanes: [Lane] = [.live, .history]
    /// How long the other lanes' watermarks wait for a commit with another cause, before they get their own: each
    /// wears an SD card. After a crash the facts beyond the stored watermark are only sent again, with the same numbers.
    static let delay: Duration = .seconds(30)
    /// Wait before the next attempt after the store failed to take a watermark.
    private static let retryDelay: Duration = .seconds(1)

    let outbox: Outbox
    let store: any OutboxStore
    let settings: DeliverySettings
    private let urgentDue = Signal()
    private let bulkDue = Signal()

    init(outbox: Outbox, store: any OutboxStore, settings: DeliverySettings) {
        self.outbox = outbox
        self.store = store
        self.settings = settings
    }

    /// Notes that the broker has these messages.
    func acknowledged(_ marks: [DeliveryMark]) {
        guard !marks.isEmpty else { return }
        outbox.acknowledged(marks)
        let lanes = marks.compactMap(\.lane)
        if lanes.contains(where: Self.urgentLanes.contains) { urgentDue.wake() }
        guard lanes.contains(where: Self.bulkLanes.contains) else { return }
        for (lane, through) in outbox.watermarks(of: Self.bulkLanes) { store.note(lane, through: through) }
        bulkDue.wake()
    }

    /// Stores watermarks as they move, until the task is cancelled. Retries failures: the lane may stay idle for
    /// days, and the facts that count as unsent until then would finally be reported as lost.
    func run() async {
        // The previous connection may have ended before its last watermarks were stored.
        urgentDue.wake()
        bulkDue.wake()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await keepStoring(Self.urgentLanes, whenever: urgentDue, after: .zero) }
            group.addTask { await keepStoring(Self.bulkLanes, whenever: bulkDue, after: Self.delay) }
        }
    }

    /// Stores the watermarks of all lanes once.
    func storeAll() async {
        var failures = RepeatedNotice()
        await storeOnce(Lane.allCases, &failures)
    }

    private func keepStoring(_ lanes: [Lane], whenever due: Signal, after delay: Duration) async {
        var failures = RepeatedNotice()
        while true {
            await due.wait()
            do {
                if delay > .zero { try await settings.clock.sleep(for: delay) }
                try Task.checkCancellation()
                while await !storeOnce(lanes, &failures) { try await settings.clock.sleep(for: Self.retryDelay) }
            } catch { return }
            failures = RepeatedNotice()
        }
    }

    /// Stores watermarks once. Returns whether the store took them.
    @discardableResult
    private func storeOnce(_ lanes: [Lane], _ failures: inout RepeatedNotice) async -> Bool {
        var isStored = true
        for (lane, through) in outbox.takeWatermarks(of: lanes) {
            do throws(StoreError) { try await store.acknowledge(lane, through: through) } catch {
                isStored = false
                outbox.watermarkFailed(lane)
                if failures.isDue("\(error)", at: settings.clock.uptime) {
                    settings.logger.error(
                        "Acknowledgements cannot be stored; trying again.",
                        metadata: ["error": "\(error)", "failures": "\(failures.count)"])
                }
            }
        }
        return isStored
    }
}
