import Engines
import Store
import TestSupport
import Testing
import Vitals

private typealias Bench = SupersedeBench

/// What a source says again of the same thing counts in its newest form.
@Suite struct CorrectionTests {
    @Test func `a night and a workout count with an earlier end, and repeated they change nothing`() async throws {
        let bench = try Bench()
        try await bench.take([Bench.sleep(0..<480), Bench.sport(0..<60)], at: 8, overlaps: .newest)
        let newer = [Bench.sleep(0..<450), Bench.sport(0..<50)]
        #expect(try await bench.take(newer, at: 9, overlaps: .newest) == [2, 0, 0])
        let reported = try await bench.reported()
        for again in [[Bench.sleep(0..<480), Bench.sport(0..<60)], newer] {
            #expect(try await bench.take(again, at: 10, overlaps: .newest) == [0, 0, 2])
        }
        #expect(try await bench.kept() == [newer[0]])
        #expect(try await bench.kept(.sport) == [newer[1]])
        #expect(try await bench.reported() == reported)
        #expect(bench.projection.latest[.sleep]?.sample == newer[0])
        #expect(try await bench.store.load(.band).latest[.sleep]?.sample == newer[0])
    }

    @Test func `fewer steps count if they are the newest, unless a window has cut them`() async throws {
        let bench = try Bench()
        func take(_ minutes: Range<Int>, _ count: Int) async throws -> [Sample] {
            try await bench.take([Bench.steps(minutes, count)], overlaps: .newest)
            return try await bench.kept(.steps)
        }
        #expect(try await take(0..<1200, 9000).count == 1)
        // The same interval.
        #expect(try await take(0..<1200, 8000) == [Bench.steps(0..<1200, 8000)])
        // A part of it.
        #expect(try await take(0..<600, 5000) == [Bench.steps(0..<1200, 8000)])
        // More of it, and a later end.
        #expect(try await take(0..<900, 8500) == [Bench.steps(0..<900, 8500)])
        #expect(try await take(0..<1440, 3000) == [Bench.steps(0..<1440, 3000)])
        let reported = try await bench.reported()
        #expect(try await take(0..<900, 8500) == [Bench.steps(0..<1440, 3000)])
        #expect(try await bench.reported() == reported)
    }

    /// A sleep of stages of ten minutes each, by their places.
    private static func stages(_ places: Range<Int>, _ depths: [Sleep.Stage.Depth]) -> Sample {
        let stages = places.map { place in
            Sleep.Stage(
                depths[place % depths.count], from: dawn + .minutes(place * 10), to: dawn + .minutes(place * 10 + 10))
        }
        return Sample(
            metric: .sleep, start: dawn + .minutes(places.lowerBound * 10),
            end: dawn + .minutes(places.upperBound * 10), reading: .sleep(Sleep(stages: stages)))
    }

    @Test func `parts of a night that windows have cut are no corrections of it, in any order`() async throws {
        var parts = [0..<48, 0..<12, 30..<48, 10..<20].map { Self.stages($0, [.light, .deep, .rem]) }
        for place in [2, 3] { parts[place].claim = .part }
        // One that ends earlier came while the night went on.
        for order in [[1, 0, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2], [2, 3, 1, 0]] {
            let bench = try Bench()
            for place in order { try await bench.take([parts[place]], overlaps: .newest) }
            #expect(try await bench.kept() == [parts[0]], "\(order)")
        }
        // Other stages are one.
        let bench = try Bench()
        let corrected = Self.stages(0..<40, [.light, .deep, .light])
        for night in [parts[0], corrected, parts[0]] { try await bench.take([night], overlaps: .newest) }
        #expect(try await bench.kept() == [corrected])
        // What has windows of the old one is old, too.
        try await bench.take([parts[2]], overlaps: .newest)
        #expect(try await bench.kept() == [corrected])
    }

    @Test func `a night that ends earlier at the edge of a stage, or begins later, counts if it is the newest`()
        async throws
    {
        for places in [0..<40, 8..<48, 8..<40] {
            let bench = try Bench()
            let (night, corrected) = (Self.stages(0..<48, [.light, .deep]), Self.stages(places, [.light, .deep]))
            for sample in [night, corrected, night] { try await bench.take([sample], overlaps: .newest) }
            #expect(try await bench.kept() == [corrected])
        }
    }

    /// What a document of this hour says.
    private func told(_ sample: Sample, at hour: Int) -> Sample {
        var sample = sample
        sample.reportedAt = dawn + .hours(hour)
        return sample
    }

    @Test func `what a later document says once more is as new as that document, without a new revision`() async throws
    {
        let bench = try Bench()
        let (steps, rate) = (Bench.steps(0..<60, 300), beat(0, 60))
        for (hour, expected) in [(12, [1, 0, 0]), (14, [0, 0, 1])] {
            for sample in [steps, rate] {
                #expect(try await bench.take([told(sample, at: hour)], overlaps: .newest) == expected)
            }
        }
        let reported = try await bench.reported()
        for late in [Bench.steps(0..<60, 500), beat(0, 70)] {
            #expect(try await bench.take([told(late, at: 13)], overlaps: .newest) == [0, 0, 1])
        }
        let kept = try await bench.kept(.steps) + bench.kept(.heartRate)
        #expect(kept == [steps, rate])
        #expect(try await bench.reported() == reported)
        #expect(try await bench.store.all(.steps).map(\.revision) == [1])
    }

    @Test func `a night and a count return to a former end that a later document has again`() async throws {
        let bench = try Bench()
        let forms = [
            [Bench.sleep(0..<360), Bench.steps(0..<60, 500)], [Bench.sleep(0..<300), Bench.steps(0..<30, 600)],
        ]
        func take(_ samples: [Sample], at hour: Int) async throws -> [Int] {
            try await bench.take(samples.map { told($0, at: hour) }, overlaps: .newest)
        }
        func expectKept(_ samples: [Sample]) async throws {
            let kept = try await bench.kept() + bench.kept(.steps)
            #expect(kept == samples)
        }
        #expect(try await take(forms[0], at: 10) == [2, 0, 0])
        #expect(try await take(forms[1], at: 11) == [2, 0, 0])
        try await expectKept(forms[1])
        // Those that come again.
        for hour in [10, 11] { #expect(try await take(forms[hour - 10], at: hour) == [0, 0, 2]) }
        try await expectKept(forms[1])
        #expect(try await take(forms[0], at: 12) == [0, 2, 0])
        #expect(try await take(forms[1], at: 11) == [0, 0, 2])
        try await expectKept(forms[0])
        // Documents that have both: of one document the later end counts.
        for hour in 13..<17 {
            let both = hour % 2 == 0 ? forms[0] + forms[1] : forms[1] + forms[0]
            #expect(try await take(both, at: hour) == [0, 0, 4])
        }
        try await expectKept(forms[0])
    }

    @Test func `an older document corrects nothing, whichever comes first`() async throws {
        let (old, new) = (told(Bench.steps(0..<60, 100), at: 8), told(Bench.steps(0..<60, 90), at: 9))
        for order in [[old, new, old], [new, old], [old, old, new, old]] {
            let bench = try Bench()
            for sample in order { try await bench.take([sample], overlaps: .newest) }
            #expect(try await bench.kept(.steps) == [new])
        }
        // Corrected to what it was.
        let bench = try Bench()
        for sample in [old, new, told(old, at: 10), new] { try await bench.take([sample], overlaps: .newest) }
        #expect(try await bench.kept(.steps) == [old])
        // Two forms of a night, and a part of a count, which a later document has.
        let nights = [told(Bench.sleep(0..<480), at: 8), told(Bench.sleep(0..<450), at: 9)]
        let counts = [told(Bench.steps(0..<60, 100), at: 8), told(Bench.steps(0..<30, 40), at: 9)]
        for order in [[0, 1], [1, 0]] {
            let bench = try Bench()
            for place in order { try await bench.take([nights[place], counts[place]], overlaps: .newest) }
            #expect(try await bench.kept() == [nights[1]])
            #expect(try await bench.kept(.steps) == [counts[0]])
        }
    }

    @Test func `nothing corrects what its source has counted, hides no other one, and is not kept by itself`()
        async throws
    {
        func count(_ minutes: Range<Int>, _ amount: Int, of source: Int, changed hour: Int? = nil) -> Sample {
            var sample = Bench.steps(minutes, amount)
            sample.origin = Self.sources[source]
            sample.changedAt = hour.map { dawn + .hours($0) }
            if amount == 0 { sample.claim = .correction }
            return sample
        }
        let bench = try Bench()
        func take(_ sample: Sample) async throws -> [Double] {
            try await bench.take([sample], overlaps: .newest)
            return try await bench.kept(.steps).compactMap(\.value)
        }
        #expect(try await take(count(0..<30, 0, of: 0)) == [])
        #expect(try await take(count(2..<29, 980, of: 1)) == [980])
        #expect(try await take(count(0..<30, 1000, of: 0, changed: 2)) == [1000])
        #expect(try await take(count(0..<30, 0, of: 0, changed: 3)) == [0, 980])
        // Repeated, and in an older form.
        #expect(try await take(count(0..<30, 0, of: 0, changed: 3)) == [0, 980])
        #expect(try await take(count(0..<30, 1000, of: 0, changed: 2)) == [0, 980])
        #expect(try await take(count(0..<30, 500, of: 0, changed: 4)) == [500])
        // Of two sources with the same times.
        #expect(try await take(count(60..<70, 7, of: 1)) == [500, 7])
        #expect(try await take(count(60..<70, 0, of: 0)) == [500, 7])
        #expect(try await take(count(60..<70, 9, of: 0)) == [500, 9])
        #expect(try await take(count(60..<70, 0, of: 0)) == [500, 0])
        #expect(try await take(count(60..<70, 7, of: 1)) == [500, 7])
    }

    @Test(arguments: [OverlapRule.latestEnd, .lastReported, .newest])
    func `of two versions the one that was changed later counts, whichever comes first`(rule: OverlapRule) async throws
    {
        var (old, new) = (Bench.steps(0..<60, 900), Bench.steps(0..<60, 700))
        (old.changedAt, new.changedAt) = (dawn + .hours(2), dawn + .hours(3))
        for order in [[old, new], [new, old], [old, new, old, new]] {
            let bench = try Bench()
            for sample in order { try await bench.take([sample], overlaps: rule) }
            #expect(try await bench.kept(.steps) == [new])
            #expect(try await bench.store.all(.steps).map(\.revision) == [order[0] == old ? 2 : 1])
        }
        // Changed to what it was.
        let bench = try Bench()
        for sample in [old, new] { try await bench.take([sample], overlaps: rule) }
        old.changedAt = dawn + .hours(4)
        for _ in 0..<2 { try await bench.take([old, new], overlaps: rule) }
        #expect(try await bench.kept(.steps) == [old])
        #expect(try await bench.store.all(.steps).map(\.revision) == [3])
    }

    @Test func `a night that was known without a time of change takes one, and counts by it`() async throws {
        var (old, new) = (Bench.sleep(0..<480), Bench.sleep(10..<450))
        let bench = try Bench()
        // An earlier version of the app did not say when it changed them.
        for night in [new, old] { try await bench.take([night], overlaps: .newest) }
        #expect(try await bench.kept() == [old])
        (old.changedAt, new.changedAt) = (dawn + .hours(8), dawn + .hours(9))
        for night in [old, new, old] { try await bench.take([night], overlaps: .newest) }
        #expect(try await bench.kept() == [new])
        #expect(try await bench.store.all(.sleep).map(\.sample.changedAt) == [new.changedAt])
    }

    // MARK: - How much a sleep says

    /// A sleep of one depth.
    private static func night(
        _ minutes: Range<Int>, _ depth: Sleep.Stage.Depth, changed hour: Int? = nil, revision: Int? = nil
    ) -> Sample {
        var sample = Bench.sleep(minutes)
        sample.revision = revision
        sample.reading = .sleep(Sleep(stages: [Sleep.Stage(depth, from: sample.start, to: sample.end)]))
        sample.changedAt = hour.map { dawn + .hours($0) }
        return sample
    }

    @Test(arguments: [OverlapRule.latestEnd, .lastReported, .newest])
    func `a night with stages counts against one without that was changed later, and against an older one`(
        rule: OverlapRule
    ) async throws {
        let staged = Self.night(20..<470, .light, changed: 9)
        let (older, unstaged) = (Self.night(15..<475, .light, changed: 8), Self.night(10..<480, .asleep, changed: 10))
        let orders = [[staged, older, unstaged], [unstaged, older, staged], [older, unstaged, staged]]
        for order in orders {
            let bench = try Bench()
            for sample in order { try await bench.take([sample], overlaps: rule) }
            #expect(try await bench.kept() == [staged])
        }
    }

    @Test(arguments: [OverlapRule.latestEnd, .lastReported, .newest])
    func `a night that becomes a time in bed gives its place back by every rule`(rule: OverlapRule) async throws {
        let bench = try Bench()
        let unstaged = Self.night(10..<480, .asleep)
        // The device numbers its versions.
        let staged = Self.night(20..<470, .light, revision: 1)
        for night in [unstaged, staged] { try await bench.take([night], overlaps: rule) }
        #expect(try await bench.kept() == [staged])
        try await bench.take([Self.night(20..<470, .inBed, revision: 2)], at: 10, overlaps: rule)
        #expect(try await bench.kept() == [unstaged])
        #expect(bench.projection.latest[.sleep]?.sample == unstaged)
        try await bench.take([Self.night(20..<470, .deep, revision: 3)], at: 11, overlaps: rule)
        #expect(try await bench.kept() == [Self.night(20..<470, .deep, revision: 3)])
    }

    @Test(arguments: [OverlapRule.latestEnd, .lastReported, .newest])
    func `of the forms of a night with the same times the one that says most counts, in any order`(
        rule: OverlapRule
    ) async throws {
        for hours in [[nil, nil, nil], [10, 9, 8]] as [[Int?]] {
            let forms = zip([.inBed, .asleep, .light] as [Sleep.Stage.Depth], hours)
                .map { Self.night(10..<480, $0, changed: $1) }
            for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                let bench = try Bench()
                for place in order { try await bench.take([forms[place]], overlaps: rule) }
                #expect(try await bench.kept() == [forms[2]])
                let reported = try await bench.reported()
                for form in forms { #expect(try await bench.take([form], overlaps: rule) == [0, 0, 1]) }
                #expect(try await bench.reported() == reported)
            }
        }
    }

    // MARK: - Any order

    private static let sources = [SampleOrigin(place: 0, name: "Watch"), SampleOrigin(place: 1, name: "Phone")]

    /// A version of a record, on a coarse grid so that many are of one thing.
    private static func version(_ number: Int, _ random: inout SplitMix64) -> Sample {
        let source = Int.random(in: 0..<2, using: &random)
        let start = dawn + .minutes(Int.random(in: 0..<10, using: &random) * 30)
        let end = start + .minutes(Int.random(in: 1...5, using: &random) * 25)
        let amount = Int.random(in: 60...64, using: &random)
        var version =
            switch Int.random(in: 0..<4, using: &random) {
            case 0: Sample(metric: .heartRate, start: start, reading: .value(Double(amount)))
            case 1: Sample(metric: .steps, start: start, end: end, reading: .count(Increment(count: amount)))
            case 2: Sample(metric: .sport, start: start, end: end, reading: .sport(Sport(activity: "a\(amount)")))
            default:
                Sample(
                    metric: .sleep, start: start, end: end,
                    reading: .sleep(Sleep(stages: [.init(.light, from: start, to: start + .minutes(amount - 50))])))
            }
        version.origin = sources[source]
        version.changedAt = dawn + .days(1) + .seconds(number)
        return version
    }

    /// The rule in its simplest form: of the same times the first source has the place, of one source the newest counts, and between
    /// sources the first of counts, else the later end.
    private static func holding(_ versions: [Sample]) -> Set<Sample> {
        func isNewer(_ a: Sample, _ b: Sample) -> Bool { a.changedAt ?? a.start > b.changedAt ?? b.start }
        func isSame(_ a: Sample, _ b: Sample) -> Bool { a.metric == b.metric && SampleKey(a) == SampleKey(b) }
        let records = versions.filter { one in
            !versions.contains { other in
                guard isSame(other, one) else { return false }
                if other.origin == one.origin { return isNewer(other, one) }
                return one.metric.isInterval && other.precedence(over: one) == .before
            }
        }
        let current = records.filter { one in
            !records.contains { other in
                other.metric == one.metric && other.origin == one.origin && isNewer(other, one)
                    && SampleKey(other).excludes(SampleKey(one), of: one.metric)
            }
        }
        return Set(
            current.filter { one in
                !current.contains { other in
                    guard one.metric.isInterval, other.metric == one.metric, other.origin != one.origin,
                        SampleKey(other).overlaps(SampleKey(one))
                    else { return false }
                    if one.metric == .steps { return other.precedence(over: one) == .before }
                    return SampleKey(other).prevails(over: SampleKey(one))
                }
            })
    }

    @Test(arguments: 0..<60 as Range<UInt64>)
    func `versions with times of change end in the same records in any order, by every rule`(seed: UInt64) async throws
    {
        var random = SplitMix64(seed: seed)
        var versions: [Sample] = []
        for number in 0..<80 { versions.append(Self.version(number, &random)) }
        let rule = [OverlapRule.latestEnd, .lastReported, .newest][Int(seed % 3)]
        let wanted = Self.holding(versions)
        for _ in 0..<3 {
            let store = try ConsumedStore(rule, device: .band)
            var rest = (versions + versions.shuffled(using: &random).prefix(20)).shuffled(using: &random)[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...8, using: &random)
                try await store.ingest(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(Set(store.held.values) == wanted)
            for metric in [Metric.heartRate, .steps, .sport, .sleep] {
                #expect(try await Set(store.stored(metric)) == wanted.filter { $0.metric == metric })
            }
            let novelties = try await store.ingest(versions.shuffled(using: &random))
            #expect(novelties.allSatisfy { $0 == .known || $0 == .withdrawn })
            #expect(Set(store.held.values) == wanted)
        }
    }
}
