import Engines
import Store
import Synchronization
import Testing
import Vitals

/// A store in the agent's use: a projection decides, and carries over from one ingest to the next.
final class SupersedeBench {
    let folder: StoreFolder
    let store: SQLiteStore
    private(set) var projection = SampleProjection(device: .band, today: RunningDay(day: LocalDay(number: 20_775)))
    private let calendar: LocalCalendar
    private let wearers: Wearers

    init(_ wearers: Wearers = Wearers()) throws {
        self.wearers = wearers
        folder = try StoreFolder()
        store = try folder.open()
        calendar = try #require(LocalCalendar(identifier: "UTC"))
    }

    /// Stores samples. Returns the counts of new, corrected and known ones.
    @discardableResult
    func take(
        _ samples: [Sample], at hour: Int = 9, source: SampleSource = .sync, overlaps: OverlapRule = .latestEnd
    ) async throws -> [Int] {
        let now = dawn + .hours(hour)
        let context = IngestContext(
            source: source, now: now, freshness: [:], settings: MonitorSettings(), policy: AlertPolicy(),
            isWorn: true, calendar: calendar, wearers: wearers)
        var ingest = Ingest(.band, samples, at: now)
        ingest.wearers = wearers
        ingest.overlaps = overlaps
        let next = Mutex(projection)
        ingest.decide = { [projection] outcomes in
            var changed = projection
            let outcome = changed.record(outcomes, in: context)
            next.withLock { $0 = changed }
            return outcome
        }
        let result = try await store.ingest(ingest)
        projection = next.withLock { $0 }
        return [result.new, result.corrected, result.known]
    }

    /// Stores samples without a decision about them. Returns the store's outcome of each.
    func novelties(of samples: [Sample]) async throws -> [SampleOutcome.Novelty] {
        var ingest = Ingest(.band, samples, at: dawn + .hours(9))
        ingest.wearers = wearers
        return try await store.ingest(ingest).novelties
    }

    /// The samples of each message so far: length in minutes, revision, and whether withdrawn.
    func reported() async throws -> [[String]] {
        try await store.facts(1...1_000, limit: 1_000).compactMap { fact in
            guard case .measurement(let measurement) = fact.content else { return nil }
            return measurement.samples.map(\.inShort)
        }
    }

    func kept(_ metric: Metric = .sleep) async throws -> [Sample] { try await store.all(metric).map(\.sample) }

    /// A sleep in minutes from `dawn`.
    static func sleep(_ minutes: Range<Int>, user: Int? = nil) -> Sample {
        let (start, end) = (dawn + .minutes(minutes.lowerBound), dawn + .minutes(minutes.upperBound))
        return Sample(
            metric: .sleep, start: start, end: end, user: user,
            reading: .sleep(Sleep(stages: [Sleep.Stage(.light, from: start, to: end)])))
    }

    static func sport(_ minutes: Range<Int>, manual: Bool = false) -> Sample {
        Sample(
            metric: .sport, start: dawn + .minutes(minutes.lowerBound), end: dawn + .minutes(minutes.upperBound),
            isUserInitiated: manual, reading: .sport(Sport(activity: "running")))
    }

    static func steps(_ minutes: Range<Int>, _ count: Int) -> Sample {
        Sample(
            metric: .steps, start: dawn + .minutes(minutes.lowerBound), end: dawn + .minutes(minutes.upperBound),
            reading: .count(Increment(count: count)))
    }
}

extension StoredSample {
    /// Its length in minutes, its revision, and whether it is withdrawn.
    var inShort: String {
        "\(sample.duration.inMilliseconds / 60_000) rev \(revision)\(isWithdrawn ? " withdrawn" : "")"
    }
}
