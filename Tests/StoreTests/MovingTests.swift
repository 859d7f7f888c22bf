import Engines
import Store
import Synchronization
import TestSupport
import Testing
import Vitals

/// Samples that get another person, are taken back, or wait for one.
@Suite struct MovingTests {
    private final class Bench {
        let folder: StoreFolder
        let store: SQLiteStore
        let wearers = Wearers(people: [1: "anna", 2: "ben"])
        private(set) var projection = SampleProjection(
            device: .band, today: RunningDay(day: LocalDay(number: 20_775)))
        private let settings: MonitorSettings

        init(_ settings: MonitorSettings = MonitorSettings()) throws {
            folder = try StoreFolder()
            var options = StoreOptions()
            options.marksPendingStatistics = true
            store = try folder.open(options)
            self.settings = settings
        }

        @discardableResult
        func store(
            _ samples: [Sample] = [], moves: [SampleMove] = [], at hour: Int = 9
        ) async throws -> IngestResult {
            let calendar = try #require(LocalCalendar(identifier: "UTC"))
            let now = dawn + .hours(hour)
            let context = IngestContext(
                source: .live, now: now, freshness: [:], settings: settings, policy: AlertPolicy(), isWorn: true,
                calendar: calendar, wearers: wearers)
            let next = Mutex(projection)
            var ingest = Ingest(device: .band, wearers: wearers, samples: samples, receivedAt: now) {
                [projection] outcomes in
                var changed = projection
                let outcome = changed.record(outcomes, in: context)
                next.withLock { $0 = changed }
                return outcome
            }
            ingest.moves = moves
            let result = try await store.ingest(ingest)
            projection = next.withLock { $0 }
            return result
        }

        func facts() async throws -> [Fact] { try await store.facts(1...1_000, limit: 1_000) }

        /// The user, the revisions and whether withdrawn of the measurements so far, as they are sent again.
        func replayed() async throws -> [String] {
            try await facts().compactMap { fact in
                guard case .measurement(let measurement) = fact.content else { return nil }
                let samples = measurement.samples.map { "\($0.revision)\($0.isWithdrawn ? "w" : "")" }
                return "\(measurement.user.map(String.init) ?? "-"): \(samples.joined(separator: " "))"
            }
        }
    }

    private static func weight(_ minute: Int, _ value: Double, user: Int? = nil, whose: Sample.Whose? = nil) -> Sample {
        var sample = Sample(metric: .weight, start: dawn + .minutes(minute), user: user, reading: .value(value))
        sample.whose = whose
        return sample
    }

    private static func id(_ sample: Sample) -> SampleID { SampleID(device: .band, sample: sample) }

    @Test func `a sample that got another person is sent again as that one's, and not as the other's`() async throws {
        let bench = try Bench()
        let sample = Self.weight(0, 62, user: 1)
        try await bench.store([sample, Self.weight(1, 63, user: 1)])
        let result = try await bench.store(moves: [SampleMove(sample, to: .user(2))])
        #expect(result.moved.map(\.revision) == [2] && result.moved.map(\.id) == [Self.id(sample)])
        #expect(try await bench.replayed() == ["1: 1", "2: 2"])
        // It comes again, as it was, and with another value.
        try await bench.store([sample])
        #expect(try await bench.replayed().count == 2)
        try await bench.store([Self.weight(0, 62.5, user: 1)])
        #expect(try await bench.replayed() == ["1: 1", "2: 3", "2: 3"])
        try await bench.store(moves: [SampleMove(sample, to: .nobody)])
        try await bench.store([Self.weight(0, 62.5, user: 1)])
        #expect(try await bench.store.all(.weight).map(\.sample.value) == [63])
        let replayed = try await bench.replayed()
        #expect(replayed.last == "2: 4w", "\(replayed)")
    }

    @Test func `what waits counts nowhere, survives a restart and a copy, and then is new`() async throws {
        let bench = try Bench()
        let sample = Self.weight(5, 72, whose: .asked([2, 1]))
        let result = try await bench.store([Self.weight(0, 62, user: 1, whose: .settled), sample])
        #expect(result.new == 2 && result.novelties == [.new, .withdrawn])
        #expect(try await bench.store.all(.weight).map(\.sample.value) == [62])
        #expect(bench.projection.latest[.weight]?.sample.value == 62)
        let waiting = try await bench.store.waiting(of: .band, limit: 10)
        #expect(waiting.map(\.sample.whose) == [.asked([2, 1])] && waiting.map(\.id) == [Self.id(sample)])
        let questions = try await bench.facts().compactMap { fact in
            if case .question(let question) = fact.content { question } else { nil }
        }
        #expect(
            questions == [Question(id: Self.id(sample), metric: .weight, measuredAt: sample.end, candidates: [2, 1])])
        // It comes again, and another rule would know whose it is.
        try await bench.store([Self.weight(5, 72, user: 2, whose: .settled), Self.weight(5, 72)])
        #expect(try await bench.store.waiting(of: .band, limit: 10).count == 1)
        try await bench.store.close()
        let again = try bench.folder.open()
        #expect(try await again.waiting(of: .band, limit: 10).map(\.sample.whose) == [.asked([2, 1])])
        #expect(try await again.load(.band).latest[.weight]?.sample.value == 62)
        try await again.close()
    }

    @Test func `what waited and is nobody's is never published`() async throws {
        let bench = try Bench()
        let (first, second) = (Self.weight(0, 72, whose: .asked([1])), Self.weight(1, 110, whose: .guest))
        try await bench.store([first, second])
        try await bench.store(moves: [SampleMove(first, to: .nobody)])
        try await bench.store([first, second, Self.weight(0, 72), Self.weight(1, 110)])
        #expect(try await bench.replayed().isEmpty)
        #expect(try await bench.store.all(.weight).isEmpty)
        #expect(try await bench.store.waiting(of: .band, limit: 10).isEmpty)
        try await bench.store(moves: [SampleMove(second, to: .user(2))])
        #expect(try await bench.replayed() == ["2: 2"])
    }

    @Test func `a sample is found by its id among many`() async throws {
        let bench = try Bench()
        let beats = (0..<6_000).map { beat($0) }
        try await bench.store(beats, at: 3)
        let scale = [Self.weight(0, 62), Sample(metric: .bodyFat, start: dawn, reading: .value(20))]
        try await bench.store(scale)
        for sample in [beats[1], beats[5_999]] {
            let found = try await bench.store.occasion(of: Self.id(sample), of: .band)
            #expect(found.first?.sample == sample)
        }
        let occasion = try await bench.store.occasion(of: Self.id(scale[0]), of: .band)
        #expect(occasion.map(\.sample.metric) == [.weight, .heartRate, .bodyFat])
        #expect(try await bench.store.occasion(of: SampleID(high: 1, low: 1), of: .band).isEmpty)
        #expect(try await bench.store.occasion(of: Self.id(scale[0]), of: .ring).isEmpty)
    }

    @Test func `alerts follow, in their level, their history and what is sent again`() async throws {
        let settings = MonitorSettings.fixture(limits: [.bloodPressure: [.systolic: 90...140, .diastolic: 60...90]])
        let bench = try Bench(settings)
        let sample = Sample(
            metric: .bloodPressure, start: dawn + .hours(9), user: 1,
            reading: .bloodPressure(BloodPressure(systolic: 180, diastolic: 80)))
        try await bench.store([sample])
        func edges() async throws -> [AlertEvent] {
            try await bench.store.edges(of: .band, before: dawn + .days(1), limit: 10)
        }
        #expect(try await edges().map(\.user) == [1])
        try await bench.store(moves: [SampleMove(sample, to: .user(2))])
        #expect(try await edges().map(\.user) == [2])
        let sent = try await bench.facts().compactMap { fact in
            if case .alert(let event, _) = fact.content { event } else { nil }
        }
        #expect(sent.map(\.user) == [2])
        let record = try await bench.store.load(.band)
        #expect(record.levels.values.filter(\.isActive).map(\.user) == [2])
        try await bench.store(moves: [SampleMove(sample, to: .nobody)])
        #expect(try await edges().map(\.edge) == [.cleared])
        #expect(try await bench.store.load(.band).levels.values.filter(\.isActive).isEmpty)
    }

    @Test func `the hours of statistics are written again`() async throws {
        let bench = try Bench()
        try await bench.store.keepPendingStatistics(true, at: dawn)
        let sample = Self.weight(30, 62, user: 1)
        try await bench.store([sample])
        func take() async throws -> [ClosedRange<Hour>] {
            let pending = try await bench.store.pendingStatistics()
            for entry in pending { _ = try await bench.store.setPending(nil, isJoining: false, of: entry) }
            return pending.map(\.hours)
        }
        let hour = Hour(of: sample.start)
        #expect(try await take() == [hour...hour])
        try await bench.store(moves: [SampleMove(sample, to: .user(2))])
        #expect(try await take() == [hour...hour])
        try await bench.store(moves: [SampleMove(sample, to: .nobody)])
        #expect(try await take() == [hour...hour])
    }

    @Test func `a sleep that is another person's withdraws that one's, and the first person's comes back`() async throws
    {
        let bench = try Bench()
        let (short, long) = (SupersedeBench.sleep(0..<60, user: 1), SupersedeBench.sleep(0..<90, user: 1))
        try await bench.store([short])
        try await bench.store([long])
        #expect(try await bench.store.all(.sleep).map(\.sample.duration) == [.minutes(90)])
        try await bench.store(moves: [SampleMove(long, to: .user(2))])
        let kept = try await bench.store.all(.sleep)
        #expect(kept.map(\.sample.user) == [1, 2] && kept.map(\.sample.duration) == [.minutes(60), .minutes(90)])
    }
}
