import Foundation
import Store
import TestSupport
import Testing
import Vitals

/// Records of several sources of one device, such as a watch and a phone: what adds up counts once, anything else is kept of each.
@Suite struct SourceTests {
    private static let watch = SampleOrigin(place: 0, name: "Watch")
    private static let phone = SampleOrigin(place: 2, name: "Phone")
    private static let scale = SampleOrigin(place: 3, name: "Scale")

    private static func steps(_ minutes: Range<Int>, _ amount: Double, _ origin: SampleOrigin? = nil) -> Sample {
        Sample(
            metric: .steps, start: dawn + .minutes(minutes.lowerBound), end: dawn + .minutes(minutes.upperBound),
            origin: origin, reading: .count(Increment(amount: amount) ?? Increment(count: 0)))
    }

    private static func rate(_ minute: Int, _ value: Double, _ origin: SampleOrigin? = nil) -> Sample {
        Sample(metric: .heartRate, start: dawn + .minutes(minute), origin: origin, reading: .value(value))
    }

    private func store(_ overlaps: OverlapRule = .latestEnd) throws -> ConsumedStore {
        try ConsumedStore(overlaps, device: .band)
    }

    @Test(arguments: [OverlapRule.latestEnd, .lastReported, .newest])
    func `steps of two sources in the same minutes count once, and come again without a change`(
        overlaps: OverlapRule
    ) async throws {
        let document = (0..<30).flatMap { minute in
            [Self.steps(minute..<minute, 20, Self.phone), Self.steps(minute..<minute, 30, Self.watch)]
        }
        let store = try store(overlaps)
        #expect(try await store.ingest(document).filter { $0 == .new }.count == 30)
        #expect(store.held(.steps).compactMap(\.value).reduce(0, +) == 900)
        let held = store.held
        for _ in 0..<2 { #expect(try await store.ingest(document).allSatisfy { $0 == .known || $0 == .withdrawn }) }
        #expect(store.held == held)
        // The ids are those of a document with the watch alone.
        let alone = try self.store(overlaps)
        try await alone.ingest(document.filter { $0.origin == Self.watch })
        #expect(alone.held == held)
    }

    @Test func `a record of an earlier source withdraws those that it overlaps, in any order`() async throws {
        let long = Self.steps(0..<60, 1000, Self.phone)
        let short = Self.steps(30..<31, 40, Self.watch)
        let after = Self.steps(60..<75, 90, Self.phone)
        for order in [[long, short, after], [short, after, long], [after, long, short]] {
            let store = try store()
            for sample in order { try await store.ingest([sample]) }
            #expect(store.held(.steps) == [short, after])
            #expect(try await store.stored(.steps) == [short, after])
        }
    }

    @Test func `distances of two activities stand beside each other, and one without may be any of them`() async throws
    {
        func distance(_ minutes: Range<Int>, _ metres: Int, _ activity: String?, _ origin: SampleOrigin) -> Sample {
            Sample(
                metric: .distance, start: dawn + .minutes(minutes.lowerBound), end: dawn + .minutes(minutes.upperBound),
                qualifiers: activity.map { [.activity: $0] } ?? [:], origin: origin,
                reading: .count(Increment(count: metres)))
        }
        let walk = distance(0..<10, 800, "walking_running", Self.watch)
        let ride = distance(0..<10, 2_600, "cycling", Self.watch)
        // The phone counts the same walk, does not say how it covered a later way, and swims alone.
        let all = [
            walk, ride, distance(5..<15, 790, "walking_running", Self.phone),
            distance(0..<20, 3_300, nil, Self.phone), distance(5..<25, 100, "swimming", Self.phone),
        ]
        for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 4, 0, 3, 1]] {
            let store = try store()
            for place in order { try await store.ingest([all[place]]) }
            #expect(Set(store.held(.distance)) == [walk, ride, all[4]], "\(order)")
            #expect(Set(try await store.stored(.distance)) == [walk, ride, all[4]], "\(order)")
            // Again, and corrected: each has its own id.
            #expect(try await store.ingest([walk]) == [.known])
            var longer = ride
            longer.reading = .count(Increment(count: 2_700))
            #expect(try await store.ingest([longer]) == [.corrected])
            #expect(store.held(.distance).compactMap(\.value).sorted() == [100, 800, 2_700])
        }
    }

    @Test func `of one source a distance with an activity counts instead of the same without, in any order`()
        async throws
    {
        func distance(_ metres: Int, _ activity: String?) -> Sample {
            Sample(
                metric: .distance, start: dawn, end: dawn + .minutes(10),
                qualifiers: activity.map { [.activity: $0] } ?? [:], origin: Self.watch,
                reading: .count(Increment(count: metres)))
        }
        let (walk, way) = (distance(800, "walking_running"), distance(810, nil))
        for order in [[walk, way], [way, walk], [way, walk, way, walk]] {
            let store = try store()
            for sample in order { try await store.ingest([sample]) }
            #expect(store.held(.distance) == [walk])
            #expect(try await store.stored(.distance) == [walk])
        }
    }

    /// A walk that a watch and a phone count, with a workout of each, and a ride of which there is nothing but the workout.
    @Test(arguments: UInt64(1)...6)
    func `a workout says once more what counters say of its time, and neither adds to them nor hides them`(
        seed: UInt64
    ) async throws {
        let walk: [(source: SampleOrigin, steps: Int, metres: Int, energy: Int, floors: Int)] = [
            (Self.watch, 6_000, 4_800, 300, 4), (Self.phone, 5_900, 4_700, 290, 5),
        ]
        var all: [Sample] = []
        for (source, steps, metres, energy, floors) in walk {
            // Steps have metres and kilocalories of their own.
            let counts: [(metric: Metric, increment: Increment)] = [
                (.steps, Increment(count: steps, distance: Double(metres), energy: Double(energy))),
                (.distance, Increment(count: metres)), (.activeEnergy, Increment(count: energy)),
                (.floors, Increment(count: floors)),
            ]
            all += counts.map { metric, increment in
                Sample(
                    metric: metric, start: dawn, end: dawn + .hours(1), origin: source, reading: .count(increment))
            }
            let sport = Sport(activity: "walking", distance: Double(metres - 700), energy: Double(energy - 40))
            all.append(
                Sample(
                    metric: .sport, start: dawn + .minutes(5), end: dawn + .minutes(50 - source.place), origin: source,
                    reading: .sport(sport)))
        }
        all.append(
            Sample(
                metric: .sport, start: dawn + .hours(2), end: dawn + .hours(3), origin: Self.watch,
                reading: .sport(Sport(activity: "cycling", distance: 20_000, energy: 500))))
        var random = SplitMix64(seed: seed)
        let store = try store()
        for sample in all.shuffled(using: &random) { try await store.ingest([sample]) }
        try await store.ingest(all.shuffled(using: &random))
        let calendar = LocalCalendar(timeZone: .gmt)
        let day = calendar.day(of: dawn)
        for (metric, total) in [(Metric.steps, 6_000.0), (.distance, 4_800), (.activeEnergy, 300), (.floors, 4)] {
            #expect(try await store.total(metric, of: day, in: calendar) == total, "\(metric)")
        }
        guard case .sport(let totals) = try await store.day(day, of: .sport, in: calendar) else {
            Issue.record("no day of sport")
            return
        }
        #expect(totals.sessions == 2 && totals.distance == 24_100 && totals.energy == 760)
    }

    @Test func `a source that is itself hidden still hides those behind it`() async throws {
        // The scale meets the phone, which meets the watch.
        let all = [
            Self.steps(0..<10, 10, Self.watch), Self.steps(5..<20, 20, Self.phone), Self.steps(15..<30, 30, Self.scale),
        ]
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0]] {
            let store = try store()
            for place in order { try await store.ingest([all[place]]) }
            #expect(store.held(.steps) == [all[0]], "\(order)")
        }
    }

    @Test func `steps without a source are behind those with one, and take over a source with the same content`()
        async throws
    {
        let store = try store()
        try await store.ingest([Self.steps(0..<10, 10), Self.steps(20..<30, 30)])
        // An earlier version of the gateway stored them.
        #expect(try await store.ingest([Self.steps(0..<10, 10, Self.phone)]) == [.known])
        let novelties = try await store.ingest([Self.steps(0..<10, 11), Self.steps(25..<26, 5, Self.watch)])
        #expect(novelties == [.withdrawn, .new])
        #expect(store.held(.steps) == [Self.steps(0..<10, 10), Self.steps(25..<26, 5)])
    }

    @Test func `a value without a source is one of its own, also where it equals that of another source`() async throws
    {
        let nameless = SampleOrigin(place: 9, name: "")
        let all = [Self.rate(0, 60, Self.watch), Self.rate(0, 64, Self.phone), Self.rate(0, 60, nameless)]
        var results: [[SampleID: Sample]] = []
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]] {
            let store = try store()
            for place in order { try await store.ingest([all[place]]) }
            try await store.ingest(all)
            results.append(store.held)
        }
        #expect(Set(results).count == 1)
        #expect(results[0].values.compactMap(\.value).sorted() == [60, 60, 64])
        // An earlier version of the gateway stored no source.
        let store = try store()
        try await store.ingest([Self.rate(0, 60)])
        #expect(try await store.ingest([Self.rate(0, 60, nameless)]) == [.known])
        #expect(try await store.ingest([Self.rate(0, 62, nameless)]) == [.corrected])
        #expect(store.held(.heartRate).map(\.value) == [62])
    }

    @Test func `a value of a second source has an id of its own, whichever came first`() async throws {
        let all = [Self.rate(0, 60, Self.watch), Self.rate(0, 64, Self.phone), Self.rate(1, 61, Self.phone)]
        var results: [[SampleID: Sample]] = []
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2, 1, 0]] {
            let store = try store()
            for place in order { try await store.ingest([all[place]]) }
            try await store.ingest(all)
            results.append(store.held)
            #expect(try await store.stored(.heartRate).count == 3)
        }
        #expect(Set(results).count == 1 && results[0].count == 3)
        func id(_ minute: Int, _ source: String? = nil) -> SampleID {
            let moment = dawn + .minutes(minute)
            return SampleID(
                device: .band, metric: .heartRate, start: moment, end: moment, isUserInitiated: false, source: source)
        }
        #expect(results[0][id(0)]?.value == 60 && results[0][id(0, "Phone")]?.value == 64)
        #expect(results[0][id(1)]?.value == 61)
    }

    @Test func `a value beside another one is corrected, read in pages, and in messages after a restart`() async throws
    {
        let folder = try StoreFolder()
        let store = try folder.open()
        _ = try await store.ingest(
            Ingest(.band, [Self.rate(0, 60, Self.watch), Self.rate(0, 64, Self.phone), Self.rate(1, 61, Self.watch)]))
        _ = try await store.ingest(Ingest(.band, [Self.rate(0, 66, Self.phone)]))
        var (found, after) = ([StoredSample](), SampleKey?.none)
        while true {
            let page = try await store.samples(
                of: .band, metric: .heartRate, starting: dawn..<(dawn + .hours(1)), isUserInitiated: false,
                after: after,
                limit: 1)
            guard let last = page.last else { break }
            found += page
            after = SampleKey(page: SampleKey(last.sample).page)
        }
        #expect(found.map(\.sample.value) == [60, 66, 61])
        #expect(found.map(\.revision) == [1, 2, 1])
        #expect(found.map(\.sample.origin?.name) == ["Watch", "Phone", "Watch"])
        try await store.close()
        let facts = try await folder.open().pendingFacts(.live, after: 0, limit: 10)
        #expect(facts.map(\.values) == [[60, 66, 61], [66]])
    }

    @Test func `with another order a value keeps its id`() async throws {
        let store = try store()
        try await store.ingest([Self.rate(0, 60, Self.watch), Self.rate(0, 64, Self.phone)])
        let held = store.held
        var first = Self.rate(0, 64, Self.phone)
        first.origin = SampleOrigin(place: -1, name: "Phone")
        #expect(try await store.ingest([first, Self.rate(0, 60, Self.watch)]) == [.known, .known])
        #expect(store.held == held)
    }

    @Test func `parts of steps are kept until the day`() async throws {
        let store = try store()
        try await store.ingest((0..<120).map { Self.steps($0..<$0, 0.4, Self.watch) })
        try await store.ingest([Self.steps(200..<200, 1.566, Self.watch), Self.steps(201..<201, 0.195, Self.watch)])
        let calendar = LocalCalendar(timeZone: .gmt)
        #expect(try await store.total(.steps, of: calendar.day(of: dawn), in: calendar) == 50)
        #expect(try await store.stored(.steps).last?.value == 0.195)
    }

    @Test func `a count checks a bounded number of those of other sources beside it`() async throws {
        let store = try store()
        let minutes = 7 * 24 * 60
        for first in stride(from: 0, to: minutes, by: 1008) {
            try await store.ingest((first..<first + 1008).map { Self.steps($0..<$0 + 1, 5, Self.phone) })
        }
        // A minute for each of the longest record that there may be.
        try await store.ingest([Self.steps(0..<minutes, 50_000, Self.watch)])
        #expect(store.held(.steps).count == 1)
    }

    /// Documents of a day whose clocks change, in any order and any number, against the rule in its simplest form.
    @Test(arguments: 0..<100 as Range<UInt64>)
    func `a hundred random documents end in the same samples in any order`(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        // The nights in which the clocks of Berlin go forward and back.
        let night = Timestamp(seconds: seed % 2 == 0 ? 1_774_742_400 : 1_792_886_400)
        let origins = [Self.watch, SampleOrigin(place: 1, name: "Ring"), Self.phone, Self.scale, nil]
        func record() -> Sample {
            let origin = origins.randomElement(using: &random) ?? nil
            let minute = Int.random(in: 0..<240, using: &random)
            let lengths = [0, 1, 5, 15, 60]
            let length = lengths.randomElement(using: &random) ?? 0
            let start = night + .minutes(minute / max(length, 1) * max(length, 1))
            let amount = Double((minute * 7 + length * 13 + (origin?.place ?? 9) * 101) % 900 + 1) / 8
            if Bool.random(using: &random) {
                let counters: [Metric] = [.steps, .steps, .distance, .activeEnergy, .floors]
                let metric = counters.randomElement(using: &random) ?? .steps
                let activity = [nil, "walking_running", "cycling"].randomElement(using: &random) ?? nil
                return Sample(
                    metric: metric, start: start, end: start + .minutes(length),
                    qualifiers: metric == .distance ? activity.map { [.activity: $0] } ?? [:] : [:], origin: origin,
                    reading: .count(Increment(amount: amount) ?? Increment(count: 1)))
            }
            let rate = 60 + Double(origin?.place ?? 9)
            return Sample(metric: .heartRate, start: start, origin: origin, reading: .value(rate))
        }
        let rule = [OverlapRule.latestEnd, .newest][Int(seed / 2 % 2)]
        // A record of a source and its times has one content; only then is there one right result. Where the newest of those that begin
        // together counts, each has its time of change, too.
        var known: [String: Sample] = [:]
        let documents = (0..<100).map { _ in
            (0..<Int.random(in: 1...8, using: &random)).map { _ in
                var new = record()
                if rule == .newest { new.changedAt = night + .seconds(Int.random(in: 0..<1_000_000, using: &random)) }
                let name =
                    "\(new.metric) \(new.start) \(new.end) \(new.origin?.name ?? "") \(new.qualifiers[.activity] ?? "")"
                let sample = known[name] ?? new
                known[name] = sample
                return sample
            }
        }
        let (store, other) = (try store(rule), try store(rule))
        for document in documents { try await store.ingest(document) }
        for document in (documents + documents.prefix(40)).shuffled(using: &random) {
            try await other.ingest(document.shuffled(using: &random))
        }
        #expect(store.held == other.held)
        let rates = known.values.filter { $0.metric == .heartRate }
        #expect(store.held(.heartRate).map(\.value).count == rates.count)
        if rule == .latestEnd {
            for metric in [Metric.steps, .distance, .activeEnergy, .floors] {
                let wanted = known.values.filter { $0.metric == metric }.countedOnce
                #expect(Set(store.held(metric)) == Set(wanted), "\(metric)")
                let stored = try await store.stored(metric)
                #expect(Set(stored) == Set(wanted), "\(metric)")
            }
        }
        // Nothing is published once more.
        for document in documents.shuffled(using: &random) {
            #expect(try await store.ingest(document).allSatisfy { $0 == .known || $0 == .withdrawn })
        }
        #expect(store.held == other.held)
    }
}
