import Store
import Testing
import Vitals

@Suite struct DayTests {
    static let day = LocalDay(number: 20_775)
    static let sample = StoredSample(
        sample: Sample(
            metric: .bloodPressure, start: dawn, isUserInitiated: true, user: 3,
            reading: .bloodPressure(BloodPressure(systolic: 130, diastolic: 80))),
        id: SampleID(high: 1, low: 2), revision: 4, receivedAt: dawn + .hours(1))
    static let rate = StoredSample(
        sample: Sample(
            metric: .heartRate, start: dawn, end: dawn + .seconds(3), kind: .resting, isExercise: false, revision: 2,
            reading: .value(48.5)), id: SampleID(high: 3, low: 4), revision: 2, receivedAt: dawn)

    static let details: [(Metric, DailySummary.Details)] = [
        (.heartRate, .values(.init(maximum: rate, minimum: nil, resting: [rate, rate]))),
        (
            .bloodPressure,
            .bloodPressure(
                .init(
                    maximumSystolic: sample, minimumDiastolic: sample,
                    average: BloodPressure(systolic: 121.5, diastolic: 80, pulse: 61.5)))
        ),
        (.steps, .count(total: 9_000, distance: 7_000.5, energy: nil)),
        (.protein, .count(total: 61.4, distance: nil, energy: nil)),
        (
            .sleep,
            .sleep(.init(asleep: 400, deep: 100, light: 200, rem: 100, awake: 9, start: dawn, end: dawn + .hours(8)))
        ),
        (
            .sleep,
            .sleep(.init(asleep: 264, awake: 9, unstaged: 264, inBed: 20, start: dawn, end: dawn + .hours(8)))
        ),
        (
            .sport,
            .sport(
                .init(
                    minutes: 61, sessions: 2, distance: nil, energy: 700,
                    workouts: [
                        .init(id: SampleID(high: 1, low: 2), start: dawn, end: dawn + .minutes(30), activity: "Läufe"),
                        .init(
                            id: SampleID(high: 3, low: 4), start: dawn + .hours(1), end: dawn + .minutes(91),
                            activity: "x", zones: HeartRateZones(milliseconds: [0, 60_001, 3, 4, 5])),
                    ]))
        ),
    ]

    private func summary(_ metric: Metric = .stress, count: Int = 3) -> DailySummary {
        DailySummary(
            metric: metric, day: Self.day, count: count, manualCount: 1, average: 42.5, details: .values(.init()))
    }

    @Test(arguments: details.indices) func `keeps every kind of summary over a restart`(index: Int) async throws {
        let (metric, details) = Self.details[index]
        let folder = try StoreFolder()
        var store = try folder.open()
        let summary = DailySummary(
            metric: metric, day: Self.day, count: 12, manualCount: 2, average: 60.1, details: details,
            zones: metric == .heartRate ? HeartRateZones(milliseconds: [1, 2, 3, 4, 500_000_000]) : nil)
        let record = try await store.settle(summary, of: .band, isFinal: true, at: dawn)
        #expect(record == DayRecord(summary: summary, revision: 1, updatedAt: dawn, isFinal: true))
        try await store.close()
        store = try folder.open()
        #expect(try await store.days(of: .band, metric: metric, in: Self.day...Self.day, limit: 9) == [record])
        let facts = try await store.pendingFacts(.history, after: 0, limit: 9)
        #expect(facts == folder.committed.all)
        #expect(facts.map(\.content) == [.day(record)])
    }

    @Test func `a day whose samples have ended with their retention is not summarised from the few that come again`()
        async throws
    {
        let store = try SQLiteStore.scratch { $0.sampleRetention = .days(7) }
        let samples = (0..<5).map { beat($0) }
        _ = try await store.ingest(Ingest(.band, samples, at: dawn))
        let whole = DailySummary(metric: .heartRate, day: Self.day, samples: try await store.all())
        _ = try await store.settle(whole, of: .band, isFinal: true, at: dawn + .days(1))
        try await store.acknowledge(.live, through: 9)
        try await store.acknowledge(.history, through: 9)
        while try await store.clean(at: dawn + .days(20)) {}
        #expect(try await store.all().isEmpty)
        // After a long absence, the device is read from before its last record.
        _ = try await store.ingest(Ingest(.band, [samples[4]], at: dawn + .days(20)))
        let rest = DailySummary(metric: .heartRate, day: Self.day, samples: try await store.all())
        #expect(rest.count == 1)
        let record = try await store.settle(rest, of: .band, isFinal: true, at: dawn + .days(20))
        #expect(record.summary == whole && record.revision == 1)
        #expect(try await store.days(of: .band, metric: .heartRate, in: Self.day...Self.day, limit: 9) == [record])
        #expect(try await store.load(.band).unsettledDays.isEmpty)
        // A day with as many samples is accepted.
        var corrected = whole
        corrected.average = 61
        #expect(try await store.settle(corrected, of: .band, isFinal: true, at: dawn + .days(20)).summary == corrected)
        // Nor does a day lose the resting items of its partner, though it has as many samples.
        let partner = DailySummary(
            metric: .restingHeartRate, day: Self.day, count: 0, manualCount: 0, average: nil,
            details: .values(.init(resting: [Self.rate])))
        _ = try await store.settle(partner, of: .band, isFinal: true, at: dawn + .days(1))
        let empty = DailySummary(metric: .restingHeartRate, day: Self.day, samples: [])
        #expect(try await store.settle(empty, of: .band, isFinal: true, at: dawn + .days(20)).summary == partner)
    }

    @Test func `the revision rises only with a change, and only past days make facts`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        #expect(try await store.settle(summary(), of: .band, isFinal: false, at: dawn).revision == 1)
        #expect(try await store.settle(summary(count: 4), of: .band, isFinal: false, at: dawn).revision == 2)
        #expect(folder.committed.all.isEmpty)
        let final = try await store.settle(summary(count: 4), of: .band, isFinal: true, at: dawn + .days(1))
        #expect(final.revision == 2)
        #expect(folder.committed.all.count == 1)
        let same = try await store.settle(summary(count: 4), of: .band, isFinal: true, at: dawn + .days(2))
        #expect(same == final)
        #expect(folder.committed.all.count == 1)
        let late = try await store.settle(summary(count: 5), of: .band, isFinal: true, at: dawn + .days(2))
        #expect(late.revision == 3)
        #expect(folder.committed.all.map(\.content) == [.day(final), .day(late)])
    }

    @Test func `a day with late samples stays unsettled until it is summarised`() async throws {
        let folder = try StoreFolder()
        var store = try folder.open()
        let ingest = Ingest(.band, [beat(0)]) {
            $0.unsettledDays = [MetricDay(.stress, Self.day), MetricDay(.steps, Self.day)]
        }
        _ = try await store.ingest(ingest)
        _ = try await store.ingest(ingest)
        try await store.close()
        store = try folder.open()
        #expect(
            try await store.load(.band).unsettledDays == [MetricDay(.stress, Self.day), MetricDay(.steps, Self.day)])
        _ = try await store.settle(summary(), of: .band, isFinal: false, at: dawn)
        #expect(try await store.load(.band).unsettledDays.count == 2)
        _ = try await store.settle(summary(), of: .band, isFinal: true, at: dawn)
        #expect(try await store.load(.band).unsettledDays == [MetricDay(.steps, Self.day)])
    }

    @Test func `the device's own summary stands beside ours, whichever comes first`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        #expect(try await store.storeDeviceSummary(summary(count: 7), of: .band, at: dawn))
        #expect(try await store.days(of: .band, metric: .stress, in: Self.day...Self.day, limit: 9).isEmpty)
        let record = try await store.settle(summary(), of: .band, isFinal: true, at: dawn)
        #expect(record.deviceSummary == summary(count: 7))
        #expect(folder.committed.all.map(\.content) == [.day(record)])
    }

    @Test func `a day of which only the device says something is to be settled, also after a restart`() async throws {
        let folder = try StoreFolder()
        var store = try folder.open()
        for _ in 0..<2 { #expect(try await store.storeDeviceSummary(summary(count: 7), of: .band, at: dawn)) }
        try await store.close()
        store = try folder.open()
        #expect(try await store.load(.band).unsettledDays == [MetricDay(.stress, Self.day)])
        _ = try await store.settle(summary(), of: .band, isFinal: true, at: dawn)
        #expect(try await store.load(.band).unsettledDays.isEmpty)
    }

    @Test func `what the device says of a day before the retention of days is not kept`() async throws {
        let store = try SQLiteStore.scratch { $0.dailyRetention = .days(7) }
        #expect(try await !store.storeDeviceSummary(summary(), of: .band, at: dawn + .days(10)))
        #expect(try await store.load(.band).unsettledDays.isEmpty)
        #expect(try await store.storeDeviceSummary(summary(), of: .band, at: dawn + .days(5)))
    }

    @Test func `a past day is a fact again where the device says something else of it`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        _ = try await store.settle(summary(), of: .band, isFinal: false, at: dawn)
        #expect(try await store.storeDeviceSummary(summary(count: 6), of: .band, at: dawn))
        #expect(folder.committed.all.isEmpty)
        _ = try await store.settle(summary(), of: .band, isFinal: true, at: dawn)
        for _ in 0..<2 {
            #expect(try await !store.storeDeviceSummary(summary(count: 8), of: .band, at: dawn + .hours(1)))
        }
        let changed = DayRecord(
            summary: summary(), revision: 2, updatedAt: dawn + .hours(1), isFinal: true,
            deviceSummary: summary(count: 8))
        #expect(try await store.days(of: .band, metric: .stress, in: Self.day...Self.day, limit: 9) == [changed])
        #expect(folder.committed.all.count == 2)
        #expect(folder.committed.all.last?.content == .day(changed))
    }

    @Test func `what the device says again is no news, whenever its extremes were received`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        _ = try await store.settle(summary(), of: .band, isFinal: true, at: dawn)
        for hour in 1...2 {
            let sample = Sample(metric: .stress, start: dawn, reading: .value(50))
            let stored = StoredSample(
                sample: sample, of: .band, revision: 1,
                receivedAt: dawn + .hours(hour))
            let own = DailySummary(
                metric: .stress, day: Self.day, count: 3, manualCount: 1, average: 42.5,
                details: .values(.init(maximum: stored, minimum: stored, resting: [stored])))
            #expect(try await !store.storeDeviceSummary(own, of: .band, at: dawn + .hours(hour)))
        }
        #expect(folder.committed.all.count == 2)
    }

    @Test func `reads days in their order up to a limit`() async throws {
        let store = try SQLiteStore.scratch()
        for offset in [4, 1, 3, 0, 2] {
            var summary = summary()
            summary.day = Self.day.advanced(by: offset)
            _ = try await store.settle(summary, of: .band, isFinal: false, at: dawn)
        }
        let days = try await store.days(
            of: .band, metric: .stress, in: Self.day.advanced(by: 1)...Self.day.advanced(by: 4), limit: 3)
        #expect(days.map(\.summary.day) == (1...3).map { Self.day.advanced(by: $0) })
    }
}
