import Engines
import Store
import Synchronization
import Testing
import Vitals

private typealias Bench = SupersedeBench

/// Records of the same event: only one of them counts.
@Suite struct SupersedeTests {
    @Test func `a longer night takes the place of the shorter one, in one message`() async throws {
        let bench = try Bench()
        #expect(try await bench.take([Bench.sleep(0..<360)], at: 6) == [1, 0, 0])
        #expect(try await bench.take([Bench.sleep(0..<360), Bench.sleep(0..<480)], at: 8) == [1, 0, 1])
        #expect(try await bench.kept() == [Bench.sleep(0..<480)])
        let reported = try await bench.reported()
        // The first message was not sent yet: it has the present content.
        #expect(reported == [["360 rev 2 withdrawn"], ["360 rev 2 withdrawn", "480 rev 1"]])
        #expect(bench.projection.latest[.sleep]?.sample == Bench.sleep(0..<480))
        #expect(try await bench.store.load(.band).latest[.sleep]?.sample == Bench.sleep(0..<480))
        #expect(bench.projection.today.outdated == [.sleep])
    }

    @Test func `the same history once more changes nothing, and a withdrawn night stays withdrawn`() async throws {
        let bench = try Bench()
        try await bench.take([Bench.sleep(0..<360)], at: 6)
        try await bench.take([Bench.sleep(0..<480)], at: 8)
        let reported = try await bench.reported()
        for history in [[Bench.sleep(0..<360), Bench.sleep(0..<480)], [Bench.sleep(0..<360)]] {
            #expect(try await bench.take(history) == [0, 0, history.count])
            #expect(try await bench.take(history.reversed()) == [0, 0, history.count])
        }
        #expect(try await bench.reported() == reported)
        #expect(try await bench.kept() == [Bench.sleep(0..<480)])
    }

    @Test func `a shorter night that comes late is kept, and reported to nobody`() async throws {
        let bench = try Bench()
        try await bench.take([Bench.sleep(0..<480)], at: 8)
        #expect(try await bench.take([Bench.sleep(0..<360)]) == [0, 0, 1])
        #expect(try await bench.reported() == [["480 rev 1"]])
        #expect(try await bench.kept() == [Bench.sleep(0..<480)])
        #expect(bench.projection.latest[.sleep]?.sample == Bench.sleep(0..<480))
    }

    @Test(arguments: [[0..<360, 0..<400, 0..<480], [0..<400, 0..<480, 0..<360], [0..<480, 0..<400, 0..<360]])
    func `of several versions in one batch only the last is reported`(versions: [Range<Int>]) async throws {
        let bench = try Bench()
        #expect(try await bench.take(versions.map { Bench.sleep($0) }) == [1, 0, 2])
        #expect(try await bench.reported() == [["480 rev 1"]])
        #expect(try await bench.kept() == [Bench.sleep(0..<480)])
    }

    @Test func `a version that is corrected and then overtaken in one batch is withdrawn once`() async throws {
        let bench = try Bench()
        try await bench.take([Bench.sport(0..<30)])
        var corrected = Bench.sport(0..<30)
        corrected.reading = .sport(Sport(activity: "walking"))
        try await bench.take([corrected, Bench.sport(0..<40)])
        let reported = try await bench.reported()
        #expect(reported == [["30 rev 3 withdrawn"], ["30 rev 3 withdrawn", "40 rev 1"]])
        // The first record is sent again in its present version. A correction of a replaced record is not published.
        #expect(try await bench.take([Bench.sport(0..<30)]) == [0, 0, 1])
        #expect(try await bench.reported().count == 2)
    }

    @Test(arguments: [
        ([0..<30, 31..<60], [0..<30, 31..<60]),
        ([0..<30, 30..<60], [0..<30, 30..<60]),
        ([0..<30, 29..<60], [29..<60]),
        ([0..<60, 10..<20], [0..<60]),
        ([10..<60, 0..<60], [0..<60]),
        ([0..<0, 0..<60], [0..<60]),
        // The one in the middle replaced the first, and was itself replaced.
        ([0..<30, 20..<50, 40..<70], [40..<70]),
    ]) func `what overlaps is one, what only touches is not`(reported: [Range<Int>], kept: [Range<Int>]) async throws {
        for order in [reported, reported.reversed()] {
            let bench = try Bench()
            for minutes in order { try await bench.take([Bench.sleep(minutes), Bench.sport(minutes)]) }
            #expect(try await bench.kept() == kept.map { Bench.sleep($0) })
            #expect(try await bench.kept(.sport) == kept.map { Bench.sport($0) })
        }
    }

    @Test func `a workout that a person started prevails where nothing else is different`() async throws {
        let bench = try Bench()
        try await bench.take([Bench.sport(0..<30, manual: true)])
        try await bench.take([Bench.sport(0..<30)])
        #expect(try await bench.kept(.sport) == [Bench.sport(0..<30, manual: true)])
    }

    @Test func `steps from the same start are one, others may overlap`() async throws {
        let bench = try Bench()
        try await bench.take([Bench.steps(0..<15, 100)], at: 1)
        try await bench.take([Bench.steps(0..<30, 250), Bench.steps(15..<45, 80)], at: 2)
        #expect(try await bench.kept(.steps) == [Bench.steps(0..<30, 250), Bench.steps(15..<45, 80)])
        let reported = try await bench.reported()
        #expect(reported == [["15 rev 2 withdrawn"], ["15 rev 2 withdrawn", "30 rev 1", "30 rev 1"]])
    }

    @Test func `sleeps of two people overlap, until one turns out to be the other's`() async throws {
        let bench = try Bench()
        try await bench.take([Bench.sleep(0..<300, user: 1), Bench.sleep(10..<400, user: 2), Bench.sleep(5..<200)])
        #expect(try await bench.kept().count == 3)
        try await bench.take([Bench.sleep(10..<400, user: 1)])
        #expect(try await bench.kept() == [Bench.sleep(5..<200), Bench.sleep(10..<400, user: 1)])
        // Back again: the shorter one counts once more.
        #expect(try await bench.take([Bench.sleep(10..<400, user: 2)]) == [0, 2, 0])
        #expect(try await bench.kept().map(\.user) == [1, nil, 2])
        #expect(try await bench.store.all(.sleep).map(\.revision) == [3, 1, 3])
    }

    @Test(arguments: [
        (Wearers(person: "anna", people: [1: "anna"]), [nil, 1]),
        (Wearers(person: "anna", people: [1: "anna"]), [1, nil]),
        (Wearers(people: [1: "anna", 2: "anna"]), [1, 2]),
    ]) func `a night that grows is one, in whichever slot of its person`(wearers: Wearers, users: [Int?]) async throws {
        let bench = try Bench(wearers)
        try await bench.take([Bench.sleep(0..<300, user: users[0])], at: 5)
        #expect(try await bench.take([Bench.sleep(0..<360, user: users[1])], at: 6) == [1, 0, 0])
        #expect(try await bench.kept() == [Bench.sleep(0..<360, user: users[1])])
        #expect(try await bench.reported() == [["300 rev 2 withdrawn"], ["300 rev 2 withdrawn", "360 rev 1"]])
        // A change of the slot alone is a correction, and changes nothing for the shorter night.
        #expect(try await bench.take([Bench.sleep(0..<360, user: users[0])]) == [0, 1, 0])
        #expect(try await bench.kept() == [Bench.sleep(0..<360, user: users[0])])
    }

    @Test func `slots without a name are different people, and none is the owner`() async throws {
        let bench = try Bench(Wearers(person: "anna", people: [1: "ben"]))
        try await bench.take([1, 2, 3, nil].enumerated().map { Bench.sleep(0..<(300 + $0.offset), user: $0.element) })
        #expect(try await bench.kept().count == 4)
    }

    @Test func `the days of both are counted anew, also where the longer night ends on the next day`() async throws {
        let bench = try Bench()
        let day = LocalDay(number: 20_775)
        try await bench.take([Bench.sleep(1_320..<1_430)], at: 24)
        try await bench.take([Bench.sleep(1_320..<1_800)], at: 30)
        let days = Set([day, day.advanced(by: 1)].map { MetricDay(.sleep, $0) })
        #expect(try await bench.store.load(.band).unsettledDays == days)
        #expect(try await bench.kept() == [Bench.sleep(1_320..<1_800)])
    }

    @Test func `what waits for the broker says after a crash what holds then`() async throws {
        let bench = try Bench()
        try await bench.take([Bench.sleep(0..<360)], at: 6)
        try await bench.take([Bench.sleep(0..<480)], at: 8)
        let crashed = try bench.folder.crashed()
        let store = try crashed.open()
        let waiting = try await store.pending(.history, after: 0, limit: 10)
        let samples = waiting.compactMap {
            if case .measurement(let message)? = $0.fact?.content { message.samples } else { nil }
        }
        #expect(samples.map { $0.map(\.inShort) } == [["360 rev 2 withdrawn"], ["360 rev 2 withdrawn", "480 rev 1"]])
        #expect(try await store.all(.sleep).map(\.sample) == [Bench.sleep(0..<480)])
    }

    @Test func `checks a bounded number of records beside a new one`() async throws {
        let bench = try Bench()
        try await bench.take((1...1_001).map { Bench.sport(0..<$0) })
        #expect(try await bench.kept(.sport) == [Bench.sport(0..<1_001)])
        // A thousand records that ended earlier hide the one that ends later.
        try await bench.take(
            (0..<1_000).map { Bench.sport(($0 + 2_000)..<($0 + 2_001)) } + [Bench.sport(1_500..<4_000)])
        #expect(try await bench.kept(.sport).map(\.start).count == 2)
        try await bench.take([Bench.sport(3_100..<3_200)])
        #expect(try await bench.kept(.sport).count == 3)
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `any order and duplication of growing records ends in the same ones`(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        // Growing nights, with naps and workouts, on a coarse grid so that many overlap.
        let records = (0..<60).map { _ in
            let start = Int.random(in: 0..<40, using: &random) * 31
            let minutes = start..<(start + Int.random(in: 1...8, using: &random) * 20)
            return switch Int.random(in: 0..<3, using: &random) {
            case 0: Bench.sleep(minutes, user: start % 3 == 0 ? 1 : nil)
            case 1: Bench.sport(minutes, manual: Bool.random(using: &random))
            default: Bench.steps(minutes, minutes.count)
            }
        }
        let wearers = seed % 2 == 0 ? Wearers() : Wearers(person: "anna", people: [1: "anna"])
        let bench = try Bench(wearers)
        var rest = (records + records.shuffled(using: &random).prefix(30)).shuffled(using: &random)[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...12, using: &random)
            try await bench.take(Array(rest.prefix(count)), at: 48)
            rest = rest.dropFirst(count)
        }
        for metric in [Metric.sleep, .sport, .steps] {
            #expect(try await Set(bench.kept(metric)) == Self.holding(records.filter { $0.metric == metric }, wearers))
        }
        // A consumer that keeps the highest revision of each record has the same result.
        let reported = try await bench.store.facts(1...10_000, limit: 10_000).compactMap { fact in
            if case .measurement(let measurement) = fact.content { measurement.samples } else { nil }
        }.joined()
        let newest = Dictionary(grouping: reported, by: \.id).compactMapValues { $0.max { $0.revision < $1.revision } }
        #expect(Set(newest.values.filter { !$0.isWithdrawn }.map(\.sample)) == Self.holding(records, wearers))
        let count = try await bench.reported().count
        try await bench.take(records.shuffled(using: &random), at: 48)
        #expect(try await bench.reported().count == count)
    }

    /// The rule in its simplest form: the records that no other one of the same kind and person excludes.
    private static func holding(_ records: [Sample], _ wearers: Wearers) -> Set<Sample> {
        Set(records).filter { record in
            !records.contains { other in
                guard other != record, other.metric == record.metric, wearers.areSame(other.user, record.user)
                else { return false }
                let overlap = other.start < record.end && record.start < other.end && record.metric != .steps
                guard overlap || other.start == record.start else { return false }
                if other.end != record.end { return other.end > record.end }
                if other.start != record.start { return other.start < record.start }
                return other.isUserInitiated && !record.isUserInitiated
            }
        }
    }
}
