import GatewayTesting
import Store
import Synchronization
import TestSupport
import Vitals

/// The real store of an import, to which a test adds samples, and which counts how often what is pending was written.
final class CountingStore: StatisticsStore {
    private let scratch: ScratchStore
    private let written = Mutex(0)
    /// The steps of the band, by their start.
    private let steps = Mutex<[Timestamp: Sample]>([:])
    private var store: any StatisticsStore { scratch.statistics }

    /// Creates a store that keeps what is pending from the beginning.
    init(_ simulation: Simulation) async throws {
        var options = StoreOptions()
        options.marksPendingStatistics = true
        scratch = try ScratchStore(simulation, options: options)
        try await scratch.statistics.keepPendingStatistics(true, at: simulation.date)
    }

    /// How often what is pending was written.
    var writes: Int { written.withLock { $0 } }

    /// What is pending.
    var pending: [PendingStatistics] {
        get async throws(StoreError) { try await pendingStatistics() }
    }

    /// Adds samples, each with its own commit, as a session does with what comes late.
    func add(_ samples: [Sample], of device: DeviceID = .band, at moment: Timestamp) async throws {
        for sample in samples {
            let ingest = Ingest(device: device, samples: [sample], receivedAt: moment) { _ in IngestOutcome() }
            _ = try await scratch.base.ingest(ingest)
            if device == .band, sample.metric == .steps { steps.withLock { $0[sample.start] = sample } }
        }
    }

    /// The steps of a time, as a sensor shows them, by what was added: one of a known start is a correction.
    func count(from start: Timestamp, to end: Timestamp) -> Double {
        steps.withLock { steps in
            steps.values.reduce(0) { sum, sample in
                let moment = DailySummary.decisiveMoment(of: sample)
                return start <= moment && moment < end ? sum + (sample.value ?? 0) : sum
            }
        }
    }

    func keepPendingStatistics(_ isKept: Bool, at moment: Timestamp) async throws(StoreError) {
        try await store.keepPendingStatistics(isKept, at: moment)
    }

    func pendingStatistics() async throws(StoreError) -> [PendingStatistics] { try await store.pendingStatistics() }

    func setPending(
        _ hours: ClosedRange<Hour>?, isJoining: Bool, of entry: PendingStatistics
    ) async throws(StoreError) -> Bool {
        written.withLock { $0 += 1 }
        return try await store.setPending(hours, isJoining: isJoining, of: entry)
    }

    func splitPending(_ entry: PendingStatistics, among sensors: [String]) async throws(StoreError) -> Bool {
        written.withLock { $0 += 1 }
        return try await store.splitPending(entry, among: sensors)
    }

    func history(
        of device: DeviceID, metric: Metric, starting range: Range<Timestamp>, after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample] {
        try await store.history(of: device, metric: metric, starting: range, after: after, limit: limit)
    }
}

extension DeviceID {
    static let band = DeviceID("band") ?? .other
    private static var other: DeviceID { preconditionFailure("the name above is valid") }
}

/// Steps in a quarter of an hour.
func steps(_ count: Int, _ start: Timestamp) -> Sample {
    Sample(metric: .steps, start: start, end: start + .minutes(15), reading: .count(Increment(count: count)))
}

/// A heart rate.
func beat(_ value: Double, _ start: Timestamp, kind: Sample.Kind = .normal) -> Sample {
    Sample(metric: .heartRate, start: start, kind: kind, reading: .value(value))
}

/// A moment from its text.
func time(_ text: String) -> Timestamp {
    guard let time = Timestamp(rfc3339: text) else { preconditionFailure("\(text) is no time") }
    return time
}
