import Concurrency
import GatewayKit
import Vitals

/// Live samples between the device and the store. They wait for others to share a commit, unless the device waits for the receipt.
///
/// They wait here, not in the store, so that nothing is locked meanwhile: the projection stays free for what else the device
/// sends.
final class LiveIngest {
    /// The most samples that are kept from session to session while the store fails, by `Sample.weight`; the oldest are
    /// dropped. Those for which the device waits for no receipt are announced as a gap: it may have deleted them.
    static let maximumKept = 4_096

    private let ingest: SampleIngest
    private let window: BatchWindow?
    private var waiting = LiveSamples()
    /// The alerts as they will be after the samples that wait.
    private var preview: AlertMachine?
    /// Keeps the samples in their order.
    private let turn = AsyncMutex()
    private let arrival = Signal()

    /// - Parameter window: `nil` to store everything at once.
    init(ingest: SampleIngest, window: BatchWindow?) {
        self.ingest = ingest
        self.window = window
    }

    /// Takes samples. They reach the store by `store` or, after `scheduleStore`, by `run`.
    func add(_ samples: [Sample], _ receipts: [SampleReceipt]) {
        waiting.add(samples, receipts)
        if window != nil, !waiting.isUrgent, ingest.wouldAlert(samples, preview: &preview) { waiting.isUrgent = true }
    }

    /// Lets the samples that were taken wait for others. It stores them at once if the device waits for an answer, if they
    /// change an alert, or if they are many; then it holds the device back until they are stored.
    func scheduleStore(_ device: any DeviceSession) async throws {
        guard !waiting.samples.isEmpty else { return }
        guard let window, !waiting.isUrgent, waiting.samples.count < BatchWindow.batchSize else {
            return try await store(from: device)
        }
        window.add(waiting.samples.count - waiting.counted)
        waiting.counted = waiting.samples.count
        arrival.wake()
    }

    /// Stores everything that was taken.
    func store(from device: any DeviceSession, waitsForBatch: Bool = false) async throws {
        try await turn.withLock {
            let live = removeWaiting()
            guard !live.samples.isEmpty else { return }
            do { try await ingest.storeLive(live, from: device, waitsForBatch: waitsForBatch) } catch {
                if error is StoreError { putBack(live) }
                throw error
            }
        }
    }

    /// Stores samples that have waited, until the task is cancelled.
    func run(from device: any DeviceSession) async throws {
        // The last session may have left some.
        guard let window else { return try await store(from: device) }
        while !Task.isCancelled {
            if waiting.samples.isEmpty { await arrival.wait() }
            guard !waiting.samples.isEmpty else { continue }
            let hasWaited = await window.wait()
            // `storeRest` does it, once.
            if Task.isCancelled { return }
            try await store(from: device, waitsForBatch: hasWaited)
        }
    }

    /// Stores what still waits after the end of a session. If the store refuses it, it waits for the next session.
    func storeRest() async {
        await turn.withLock {
            let live = removeWaiting()
            guard !live.samples.isEmpty else { return }
            do throws(StoreError) { try await ingest.storeRest(of: live) } catch { putBack(live) }
        }
    }

    /// Keeps samples that the store did not take for the next session. Those that were refused are counted already.
    private func putBack(_ live: LiveSamples) {
        var all = LiveSamples()
        all.putBack(live, where: ingest.isPlausible)
        all.putBack(waiting) { _ in true }
        let lost = all.keepNewest(weight: Self.maximumKept)
        waiting = all
        if !lost.isEmpty { ingest.drop(lost) }
    }

    private func removeWaiting() -> LiveSamples {
        defer { (waiting, preview) = (LiveSamples(), nil) }
        return waiting
    }
}

/// Live samples to be stored together, with the receipts that the device wants for them.
struct LiveSamples {
    private(set) var samples: [Sample] = []
    private(set) var receipts: [SampleReceipt?] = []
    /// Whether the device still has each sample: it wanted a receipt, and got none.
    private var isWithDevice: [Bool] = []
    /// Whether they must not wait.
    var isUrgent = false
    /// How many of them the window has counted.
    var counted = 0

    mutating func add(_ new: [Sample], _ marks: [SampleReceipt]) {
        samples += new
        receipts += new.indices.map { $0 < marks.count ? marks[$0] : nil }
        isWithDevice += new.indices.map { $0 < marks.count }
        if !marks.isEmpty { isUrgent = true }
    }

    /// Adds samples that the store did not take. Their receipts are void, since the session that wanted them ends.
    mutating func putBack(_ others: LiveSamples, where isKept: (Sample) -> Bool) {
        for (sample, isWithDevice) in zip(others.samples, others.isWithDevice) where isKept(sample) {
            samples.append(sample)
            receipts.append(nil)
            self.isWithDevice.append(isWithDevice)
        }
    }

    /// Drops the oldest samples beyond a total weight. Returns those that are lost: the device sends the others again.
    mutating func keepNewest(weight: Int) -> [Sample] {
        var room = weight
        let newest = samples.reversed().prefix { sample in
            room -= sample.weight
            return room >= 0
        }
        let count = samples.count - newest.count
        let lost = zip(samples, isWithDevice).prefix(count).filter { !$1 }.map(\.0)
        samples.removeFirst(count)
        receipts.removeFirst(count)
        isWithDevice.removeFirst(count)
        return lost
    }
}
