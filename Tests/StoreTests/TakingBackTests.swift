import Engines
import Store
import TestSupport
import Testing
import Vitals

private typealias Bench = SupersedeBench

/// A count that fell to 0, or a value that is empty now: only what is known is corrected, or withdrawn.
@Suite struct TakingBackTests {
    private static let watch = SampleOrigin(place: 0, name: "Watch")
    private static let phone = SampleOrigin(place: 2, name: "Phone")

    private static func nothing(
        _ minutes: Range<Int>, _ origin: SampleOrigin? = nil, changedAt: Timestamp? = nil
    ) -> Sample {
        var sample = Bench.steps(minutes, 0)
        (sample.origin, sample.changedAt) = (origin, changedAt)
        sample.claim = .correction
        return sample
    }

    private static func rate(_ minute: Int, _ value: Double, _ origin: SampleOrigin? = nil) -> Sample {
        Sample(metric: .heartRate, start: dawn + .minutes(minute), origin: origin, reading: .value(value))
    }

    private static func noRate(_ minute: Int, _ origin: SampleOrigin? = nil) -> Sample {
        var sample = rate(minute, 20, origin)
        sample.claim = .correction
        return sample
    }

    @Test(arguments: [OverlapRule.lastReported, .newest])
    func `a count that falls to 0 is a correction, and comes again as one`(overlaps: OverlapRule) async throws {
        let bench = try Bench()
        try await bench.take([Bench.steps(0..<1, 18), Bench.steps(1..<2, 10)], overlaps: overlaps)
        for expected in [[0, 1, 0], [0, 0, 1]] {
            #expect(try await bench.take([Self.nothing(0..<1)], overlaps: overlaps) == expected)
            #expect(try await bench.kept(.steps) == [Bench.steps(0..<1, 0), Bench.steps(1..<2, 10)])
        }
        #expect(try await bench.take([Bench.steps(0..<1, 18)], overlaps: overlaps) == [0, 1, 0])
        let reported = try await bench.reported()
        // Each message names its samples, which have their newest revision.
        #expect(reported == [["1 rev 3", "1 rev 1"], ["1 rev 3"], ["1 rev 3"]])
    }

    @Test func `where nothing is known there is nothing to correct, and nothing is stored`() async throws {
        let bench = try Bench()
        try await bench.take([Bench.steps(2000..<2001, 5)])
        let reported = try await bench.reported()
        let all = (0..<1440).flatMap { [Self.nothing($0..<$0 + 1), Self.noRate($0)] }
        #expect(try await bench.take(all, overlaps: .lastReported) == [0, 0, 2880])
        #expect(try await bench.reported() == reported)
        #expect(try await bench.kept(.steps).count == 1)
        #expect(try await bench.kept(.heartRate).isEmpty)
        // A value of that minute is a new one.
        #expect(try await bench.take([Self.rate(7, 60)], overlaps: .lastReported) == [1, 0, 0])
    }

    @Test func `a value that its source has no more is withdrawn, and the one before is the newest`() async throws {
        let bench = try Bench()
        try await bench.take([Self.rate(0, 60), Self.rate(1, 70)], overlaps: .lastReported)
        func expectNewest(_ newest: Sample?) async throws {
            #expect(bench.projection.latest[.heartRate]?.sample == newest)
            let kept = try await bench.store.load(.band).latest[.heartRate]?.sample
            #expect(kept == newest)
        }
        try await bench.take([Self.noRate(1)], overlaps: .lastReported)
        #expect(try await bench.kept(.heartRate) == [Self.rate(0, 60)])
        try await expectNewest(Self.rate(0, 60))
        try await bench.take([Self.noRate(0), Self.noRate(1)], overlaps: .lastReported)
        #expect(try await bench.kept(.heartRate).isEmpty)
        try await expectNewest(nil)
        // It comes again.
        #expect(try await bench.take([Self.rate(1, 70)], overlaps: .lastReported) == [0, 1, 0])
        try await expectNewest(Self.rate(1, 70))
        let reported = try await bench.reported()
        // Each message names its samples, which have their newest revision.
        #expect(
            reported == [["0 rev 2 withdrawn", "0 rev 3"], ["0 rev 3"], ["0 rev 2 withdrawn"], ["0 rev 3"]])
    }

    @Test func `what another source counted in that time counts again`() async throws {
        func steps(_ minutes: Range<Int>, _ count: Int, _ origin: SampleOrigin) -> Sample {
            var sample = Bench.steps(minutes, count)
            sample.origin = origin
            return sample
        }
        // The phone has the same minute, or a longer time.
        for length in [1, 5] {
            let store = try ConsumedStore(.lastReported, device: .band)
            func held() -> [Sample] { store.held(.steps).filter { $0.value != 0 } }
            let (ours, theirs) = (steps(0..<1, 18, Self.watch), steps(0..<length, 20, Self.phone))
            for _ in 0..<2 {
                try await store.ingest([ours, theirs])
                #expect(held() == [ours])
                try await store.ingest([Self.nothing(0..<1, Self.watch), theirs])
                #expect(held() == [theirs])
            }
            try await store.ingest([Self.nothing(0..<1, Self.watch)])
            #expect(held() == [theirs])
        }
    }

    @Test func `a value of another source stays, also under an id of its own`() async throws {
        let store = try ConsumedStore(.lastReported, device: .band)
        func held() -> [Double?] { store.held(.heartRate).map(\.value).sorted { ($0 ?? 0) < ($1 ?? 0) } }
        let (ours, theirs) = (Self.rate(0, 60, Self.watch), Self.rate(0, 62, Self.phone))
        try await store.ingest([ours, theirs])
        try await store.ingest([Self.noRate(0, Self.phone)])
        #expect(held() == [60])
        try await store.ingest([theirs])
        #expect(held() == [60, 62])
        // The place that is free again is not taken by what has one of its own.
        try await store.ingest([Self.noRate(0, Self.watch), theirs])
        #expect(held() == [62])
        try await store.ingest([ours, theirs])
        #expect(held() == [60, 62])
    }

    /// All orders of three.
    private static let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]

    @Test func `in documents a count of nothing corrects only its own interval and activity`() async throws {
        func distance(_ amount: Int, _ activity: String? = nil) -> Sample {
            var sample = Self.nothing(0..<30)
            sample.metric = .distance
            sample.reading = .count(Increment(count: amount))
            if let activity { sample.qualifiers = [.activity: activity] }
            if amount > 0 { sample.claim = .whole }
            return sample
        }
        let store = try ConsumedStore(.newest, device: .band)
        let known = [Bench.steps(0..<30, 500), distance(500, "cycling")]
        try await store.ingest(known)
        let others = [Self.nothing(0..<60), Self.nothing(0..<20), distance(0), distance(0, "swimming")]
        #expect(try await store.ingest(others) == [.known, .known, .known, .known])
        #expect(store.held(.steps) == [known[0]] && store.held(.distance) == [known[1]])
        let same = [Self.nothing(0..<30), distance(0, "cycling")]
        #expect(try await store.ingest(same) == [.corrected, .corrected])
        #expect(store.held(.steps).map(\.value) == [0] && store.held(.distance).map(\.value) == [0])
        // What is nothing gives way to what is something.
        try await store.ingest([Bench.steps(0..<20, 200)])
        #expect(store.held(.steps).map(\.value) == [200])
    }

    @Test func `a count of an export that becomes nothing keeps its id, whichever end it has then`() async throws {
        for minutes in [0..<0, 0..<60] {
            let bench = try Bench()
            try await bench.take([Bench.steps(0..<30, 550)], overlaps: .lastReported)
            for expected in [[0, 1, 0], [0, 0, 1]] {
                #expect(try await bench.take([Self.nothing(minutes)], overlaps: .lastReported) == expected)
            }
            #expect(try await bench.kept(.steps) == [Bench.steps(0..<30, 0)])
            #expect(try await bench.reported() == [["30 rev 2"], ["30 rev 2"]])
            // One with an end of its own comes instead.
            try await bench.take([Bench.steps(0..<10, 250)], overlaps: .lastReported)
            #expect(try await bench.kept(.steps) == [Bench.steps(0..<10, 250)])
        }
    }

    /// Steps that their source changed at this time after `dawn`, or that a document of then has.
    private static func told(_ minutes: Range<Int>, _ amount: Int, at minute: Int, byDocument: Bool) -> Sample {
        var sample = amount == 0 ? nothing(minutes) : Bench.steps(minutes, amount)
        if byDocument {
            sample.reportedAt = dawn + .minutes(minute)
        } else {
            sample.changedAt = dawn + .minutes(minute)
        }
        return sample
    }

    @Test(arguments: [false, true])
    func `nothing that comes before what it corrects is remembered where a time is known, and is not published`(
        byDocument: Bool
    ) async throws {
        func told(_ amount: Int, _ hour: Int) -> Sample {
            Self.told(0..<60, amount, at: hour * 60, byDocument: byDocument)
        }
        let (old, empty, new) = (told(500, 12), told(0, 14), told(400, 17))
        for order in [[old, empty], [empty, old], [empty, old, empty, old], [empty, told(0, 16), told(500, 15)]] {
            let bench = try Bench()
            for sample in order { try await bench.take([sample], overlaps: .newest) }
            #expect(try await bench.kept(.steps).allSatisfy { $0.value == 0 })
            #expect(try await bench.reported().isEmpty == (order[0] == empty))
            try await bench.take([new], overlaps: .newest)
            #expect(try await bench.kept(.steps) == [new])
            #expect(bench.projection.latest[.steps]?.sample == new)
        }
        // By its arrival alone nothing is known.
        let bench = try Bench()
        for sample in [Self.nothing(0..<60), Bench.steps(0..<60, 500)] {
            try await bench.take([sample], overlaps: .newest)
        }
        #expect(try await bench.kept(.steps) == [Bench.steps(0..<60, 500)])
    }

    @Test(arguments: [false, true])
    func `nothing of an interval excludes no other one that begins with it, in any order`(byDocument: Bool) async throws
    {
        let told = [(60, 500, 720), (60, 0, 780), (30, 600, 750)].map { length, amount, minute in
            Self.told(0..<length, amount, at: minute, byDocument: byDocument)
        }
        for order in Self.orders {
            let store = try ConsumedStore(.newest, device: .band)
            for place in order { try await store.ingest([told[place]]) }
            #expect(store.held(.steps) == [told[2]], "\(order)")
            #expect(try await store.stored(.steps) == [told[2]], "\(order)")
        }
    }

    @Test func `a count of nothing replaces one with another end, unless its source changed that later`() async throws {
        let store = try ConsumedStore(.lastReported, device: .band)
        var steps = Bench.steps(0..<30, 980)
        steps.changedAt = dawn + .minutes(10)
        try await store.ingest([steps])
        try await store.ingest([Self.nothing(0..<20, changedAt: dawn + .minutes(9))])
        #expect(store.held(.steps) == [steps])
        try await store.ingest([Self.nothing(0..<20, changedAt: dawn + .minutes(11))])
        #expect(store.held(.steps).map(\.value) == [0])
    }
}
