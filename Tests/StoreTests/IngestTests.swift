import Store
import Testing
import Vitals

@Suite struct IngestTests {
    static let every: [Sample] = [
        beat(0, 61.5),
        Sample(metric: .restingHeartRate, start: dawn, kind: .resting, reading: .value(52)),
        Sample(
            metric: .bloodPressure, start: dawn, isUserInitiated: true, user: 2,
            reading: .bloodPressure(BloodPressure(systolic: 121, diastolic: 79.5, pulse: 64))),
        Sample(
            metric: .bloodPressure, start: dawn + .seconds(9),
            reading: .bloodPressure(BloodPressure(systolic: 121, diastolic: 79))),
        Sample(metric: .bloodOxygen, start: dawn, kind: .minimum, reading: .value(94)),
        Sample(metric: .stress, start: dawn, kind: .maximum, reading: .value(81)),
        Sample(metric: .temperature, start: dawn, reading: .value(36.6)),
        Sample(
            metric: .steps, start: dawn, end: dawn + .minutes(5),
            reading: .count(Increment(count: 412, distance: 301.25, energy: 17))),
        Sample(metric: .steps, start: dawn + .hours(1), end: dawn + .hours(2), reading: .count(Increment(count: 3))),
        Sample(
            metric: .sleep, start: dawn, end: dawn + .minutes(90),
            reading: .sleep(
                Sleep(stages: [
                    .init(.light, from: dawn, to: dawn + .minutes(30)),
                    .init(.deep, from: dawn + .minutes(30), to: dawn + .minutes(80)),
                    .init(.awake, from: dawn + .minutes(80), to: dawn + .minutes(90)),
                ]))),
        Sample(
            metric: .sleep, start: dawn, end: dawn + .minutes(90),
            reading: .sleep(
                Sleep(
                    stages: [
                        .init(.inBed, from: dawn, to: dawn + .minutes(30)),
                        .init(.asleep, from: dawn + .minutes(30), to: dawn + .minutes(80)),
                    ], untimed: [.rem: 7, .awake: 3]))),
        Sample(
            metric: .distance, start: dawn, end: dawn + .minutes(5), qualifiers: [.activity: "cycling"],
            origin: SampleOrigin(place: 1, name: "Watch"), reading: .count(Increment(count: 812, thousandths: 250))),
        Sample(metric: .hydration, start: dawn, reading: .count(Increment(count: 330))),
        Sample(
            metric: .sport, start: dawn, end: dawn + .minutes(40),
            reading: .sport(
                Sport(
                    activity: "Läufe \"extern\"", distance: 8_000.5, energy: 512, steps: 7_000, minimumHeartRate: 99,
                    averageHeartRate: 141.5, maximumHeartRate: 178))),
        Sample(metric: .heartRateVariability, start: dawn, qualifiers: [.statistic: "rmssd"], reading: .value(41.5)),
        Sample(metric: .heartRateVariability, start: dawn + .seconds(1), reading: .value(40)),
        Sample(metric: .respiratoryRate, start: dawn, end: dawn + .hours(7), reading: .value(14.2)),
        Sample(metric: .skinTemperature, start: dawn, reading: .value(33.1)),
        Sample(metric: .weight, start: dawn, isUserInitiated: true, user: 1, reading: .value(72.35)),
        Sample(
            metric: .bloodGlucose, start: dawn, isUserInitiated: true,
            qualifiers: [.meal: "before", .specimen: "capillary_blood"], reading: .value(99.1)),
        Sample(metric: .battery, start: dawn, isExercise: nil, reading: .value(77)),
        Sample(metric: .heartRate, start: dawn + .seconds(1), isExercise: true, revision: 7, reading: .value(150)),
    ]

    @Test(arguments: every) func `gives back every sample as it came`(sample: Sample) async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        #expect(try await store.ingest(Ingest(.band, [sample])).new == 1)
        let stored = StoredSample(
            sample: sample, of: .band, revision: sample.revision ?? 1,
            receivedAt: dawn + .hours(1))
        #expect(try await store.all(sample.metric) == [stored])
        #expect(try await store.load(.band).latest == [sample.metric: stored])
        let facts = try await store.pendingFacts(.live, after: 0, limit: 10)
        #expect(facts == folder.committed.all)
        #expect(facts.count == 1)
    }

    @Test func `knows a sample that comes again`() async throws {
        let store = try SQLiteStore.scratch()
        _ = try await store.ingest(Ingest(.band, [beat(0), beat(1)]))
        let again = try await store.ingest(Ingest(.band, [beat(0), beat(1), beat(2)], at: dawn + .hours(2)))
        #expect([again.new, again.corrected, again.known] == [1, 0, 2])
        #expect(try await store.all().map(\.receivedAt) == [1, 1, 2].map { dawn + .hours($0) })
    }

    @Test func `takes another value for a correction with a higher revision`() async throws {
        let store = try SQLiteStore.scratch()
        _ = try await store.ingest(Ingest(.band, [beat(0, 60)]))
        let result = try await store.ingest(Ingest(.band, [beat(0, 65), beat(0, 65), beat(0, 66)]))
        #expect([result.new, result.corrected, result.known] == [0, 2, 1])
        #expect(try await store.all().map(\.revision) == [3])
        #expect(try await store.all().map(\.sample.value) == [66])
    }

    @Test func `keeps the device's newest revision whichever comes last`() async throws {
        let store = try SQLiteStore.scratch()
        _ = try await store.ingest(Ingest(.band, [beat(0, 60, revision: 5)]))
        #expect(try await store.ingest(Ingest(.band, [beat(0, 50, revision: 4)])).known == 1)
        #expect(try await store.ingest(Ingest(.band, [beat(0, 70, revision: 9)])).corrected == 1)
        #expect(try await store.all().map(\.revision) == [9])
        #expect(try await store.all().map(\.sample) == [beat(0, 70, revision: 9)])
    }

    @Test func `a revision that takes a correction back holds, also where it comes before that`() async throws {
        let store = try SQLiteStore.scratch()
        _ = try await store.ingest(Ingest(.band, [beat(0, 60, revision: 1)]))
        let last = try await store.ingest(Ingest(.band, [beat(0, 60, revision: 3), beat(0, 60, revision: 3)]))
        #expect([last.new, last.corrected, last.known] == [0, 1, 1])
        #expect(try await store.ingest(Ingest(.band, [beat(0, 70, revision: 2)])).known == 1)
        #expect(try await store.all().map(\.sample) == [beat(0, 60, revision: 3)])
        #expect(try await store.all().map(\.revision) == [3])
    }

    @Test func `distinguishes spot, interval and manual samples of one moment`() async throws {
        let store = try SQLiteStore.scratch()
        var manual = beat(0)
        manual.isUserInitiated = true
        let samples = [beat(0), manual, beat(0, lasting: 10)]
        #expect(try await store.ingest(Ingest(.band, samples.reversed())).new == 3)
        #expect(try await store.all().map(\.sample) == samples)
    }

    @Test func `the newest sample is the one that ends last`() async throws {
        let store = try SQLiteStore.scratch()
        _ = try await store.ingest(Ingest(.band, [beat(0, 1, lasting: 500)]))
        _ = try await store.ingest(Ingest(.band, [beat(400, 2), beat(10, 3)]))
        #expect(try await store.load(.band).latest[.heartRate]?.sample.value == 1)
        _ = try await store.ingest(Ingest(.band, [beat(0, 4, lasting: 500)]))
        #expect(try await store.load(.band).latest[.heartRate]?.sample.value == 4)
    }

    @Test func `the newest sample is the one that was decided on, also after a clock that was ahead`() async throws {
        let folder = try StoreFolder()
        var store = try folder.open()
        // After the first sample the gateway's date is set back by a day; finally the device sends that sample again.
        let (ahead, right) = (beat(86_400, 1), beat(10, 2))
        for (sample, newest) in [(ahead, ahead), (right, right), (ahead, right)] {
            let ingest = Ingest(.band, [sample]) { decision in
                decision.latest = [.heartRate: SampleKey(newest)]
                decision.highWater = [.heartRate: newest.end]
            }
            _ = try await store.ingest(ingest)
        }
        try await store.close()
        store = try folder.open()
        let record = try await store.load(.band)
        #expect(record.highWater[.heartRate] == dawn + .seconds(10))
        #expect(record.latest[.heartRate]?.sample.value == 2)
    }

    @Test func `reads samples page by page in their order`() async throws {
        let store = try SQLiteStore.scratch()
        _ = try await store.ingest(Ingest(.band, (0..<25).map { beat($0 / 2, 60, lasting: $0 % 2) }.shuffled()))
        _ = try await store.ingest(Ingest(.ring, [beat(3)]))
        var found: [SampleKey] = []
        while true {
            let page = try await store.samples(
                of: .band, metric: .heartRate, starting: dawn..<dawn + .seconds(11), after: found.last, limit: 4)
            if page.isEmpty { break }
            found += page.map { SampleKey($0.sample) }
        }
        #expect(found == found.sorted())
        #expect(found.count == 22)
        #expect(try await store.all(.stress).isEmpty)
    }

    @Test(arguments: [true, false])
    func `reads what a person started, or the rest, by itself and page by page`(isManual: Bool) async throws {
        let store = try SQLiteStore.scratch()
        let samples = (0..<30).map { number in
            var sample = beat(number / 2)
            sample.isUserInitiated = number % 3 == 0
            return sample
        }
        _ = try await store.ingest(Ingest(.band, samples.shuffled()))
        var found: [Sample] = []
        while true {
            let page = try await store.samples(
                of: .band, metric: .heartRate, starting: dawn..<dawn + .hours(1), isUserInitiated: isManual,
                after: found.last.map { SampleKey($0) }, limit: 3)
            if page.isEmpty { break }
            found += page.map(\.sample)
        }
        let wanted = Set(samples).filter { $0.isUserInitiated == isManual }
        #expect(found == wanted.sorted { SampleKey($0) < SampleKey($1) })
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `any order and duplication of batches ends in the same samples`(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let samples = (0..<120).map { second in
            beat(second % 40, Double(second / 40), revision: second / 40 + 1, lasting: second % 3)
        }
        let folder = try StoreFolder()
        let store = try folder.open()
        var batches = (samples + samples.shuffled(using: &random).prefix(60)).shuffled(using: &random)[...]
        while !batches.isEmpty {
            let count = Int.random(in: 1...30, using: &random)
            _ = try await store.ingest(Ingest(.band, Array(batches.prefix(count))))
            batches = batches.dropFirst(count)
        }
        let newest = Dictionary(grouping: samples, by: { SampleKey($0) })
            .compactMapValues { $0.max { ($0.revision ?? 0) < ($1.revision ?? 0) } }
        #expect(try await store.all().map(\.sample) == newest.sorted { $0.key < $1.key }.map(\.value))
        let numbers = folder.committed.all.map(\.sequence)
        #expect(numbers == Array(1...Int64(numbers.count)))
    }
}
