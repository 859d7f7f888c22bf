import Engines
import Store
import Testing
import Vitals

private typealias Bench = SupersedeBench

/// Records of a source that corrects itself: the newest report counts.
@Suite struct OverlapRuleTests {
    @Test func `a night may become shorter`() async throws {
        let bench = try Bench()
        try await bench.take([Bench.sleep(0..<480)], at: 8, overlaps: .lastReported)
        #expect(try await bench.take([Bench.sleep(10..<450)], at: 9, overlaps: .lastReported) == [1, 0, 0])
        #expect(try await bench.kept() == [Bench.sleep(10..<450)])
        #expect(try await bench.reported() == [["480 rev 2 withdrawn"], ["480 rev 2 withdrawn", "440 rev 1"]])
        #expect(bench.projection.latest[.sleep]?.sample == Bench.sleep(10..<450))
        #expect(try await bench.store.load(.band).latest[.sleep]?.sample == Bench.sleep(10..<450))
        // Reported again, it changes nothing.
        #expect(try await bench.take([Bench.sleep(10..<450)], at: 10, overlaps: .lastReported) == [0, 0, 1])
        #expect(try await bench.reported().count == 2)
    }

    @Test func `of counts that start together the largest stays, in any order`() async throws {
        // A window has cut the shorter ones.
        let parts = [Bench.steps(0..<1200, 9000), Bench.steps(0..<900, 3000), Bench.steps(0..<600, 2000)]
        for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0]] {
            let bench = try Bench()
            for place in order { try await bench.take([parts[place]], overlaps: .newest) }
            #expect(try await bench.kept(.steps) == [parts[0]], "\(order)")
            #expect(try await bench.store.load(.band).latest[.steps]?.sample == parts[0], "\(order)")
            // The whole of it comes back.
            try await bench.take([Bench.steps(0..<1440, 10_000)], overlaps: .newest)
            #expect(try await bench.kept(.steps) == [Bench.steps(0..<1440, 10_000)], "\(order)")
        }
    }

    /// A sleep of one depth.
    private static func night(_ minutes: Range<Int>, _ depth: Sleep.Stage.Depth, revision: Int? = nil) -> Sample {
        var sample = Bench.sleep(minutes)
        sample.revision = revision
        sample.reading = .sleep(Sleep(stages: [Sleep.Stage(depth, from: sample.start, to: sample.end)]))
        return sample
    }

    @Test(arguments: [OverlapRule.latestEnd, .lastReported, .newest])
    func `a night with stages counts against one without, and a time in bed against neither`(rule: OverlapRule)
        async throws
    {
        let staged = Self.night(20..<470, .light)
        let (unstaged, bed) = (Self.night(10..<480, .asleep), Self.night(0..<500, .inBed))
        let orders = [
            [staged, unstaged, bed], [bed, unstaged, staged], [unstaged, staged, bed], [bed, staged, unstaged],
        ]
        for order in orders {
            let bench = try Bench()
            for sample in order { try await bench.take([sample], overlaps: rule) }
            #expect(try await bench.kept() == [staged])
            #expect(bench.projection.latest[.sleep]?.sample == staged)
            #expect(try await bench.store.load(.band).latest[.sleep]?.sample == staged)
        }
    }

    @Test(arguments: [OverlapRule.latestEnd, .lastReported])
    func `a time in bed counts where there is no sleep, and hides none of two naps`(rule: OverlapRule) async throws {
        let (bed, evening) = (Self.night(0..<300, .inBed), Self.night(600..<660, .inBed))
        let naps = [Self.night(10..<60, .asleep), Self.night(200..<280, .asleep)]
        for order in [[bed, evening] + naps, naps + [evening, bed], [naps[0], bed, naps[1], evening]] {
            let bench = try Bench()
            for sample in order { try await bench.take([sample], overlaps: rule) }
            #expect(try await bench.kept() == naps + [evening])
        }
    }

    @Test func `a correction that says less gives its place back`() async throws {
        let bench = try Bench()
        let unstaged = Self.night(10..<480, .asleep)
        try await bench.take([unstaged])
        // Only a device that numbers its versions can say less.
        try await bench.take([Self.night(20..<470, .light, revision: 1)])
        #expect(try await bench.kept() == [Self.night(20..<470, .light, revision: 1)])
        try await bench.take([Self.night(20..<470, .asleep, revision: 2)], at: 10)
        #expect(try await bench.kept() == [unstaged])
        try await bench.take([Self.night(20..<470, .deep, revision: 3)], at: 11)
        #expect(try await bench.kept() == [Self.night(20..<470, .deep, revision: 3)])
    }

    @Test func `a record that does not count is reported as such`() async throws {
        let bench = try Bench()
        try await bench.take([Bench.sleep(0..<480)])
        #expect(try await bench.novelties(of: [Bench.sleep(0..<470), Bench.sleep(0..<480)]) == [.withdrawn, .known])
    }

    @Test func `a record that was replaced may come back`() async throws {
        let bench = try Bench()
        for minutes in [0..<480, 10..<450] { try await bench.take([Bench.sleep(minutes)], overlaps: .lastReported) }
        #expect(try await bench.take([Bench.sleep(0..<480)], at: 10, overlaps: .lastReported) == [0, 1, 0])
        #expect(try await bench.kept() == [Bench.sleep(0..<480)])
        #expect(try await bench.store.all(.sleep).map(\.revision) == [3])
        #expect(try await bench.reported().last == ["440 rev 2 withdrawn", "480 rev 3"])
        #expect(try await bench.store.load(.band).latest[.sleep]?.sample == Bench.sleep(0..<480))
    }

    @Test func `a record replaces several, and leaves others and other people alone`() async throws {
        let bench = try Bench()
        try await bench.take(
            [Bench.sleep(0..<100), Bench.sleep(150..<300), Bench.sleep(400..<500), Bench.sleep(0..<300, user: 2)],
            overlaps: .lastReported)
        try await bench.take([Bench.sleep(50..<200)], overlaps: .lastReported)
        #expect(
            try await bench.kept() == [Bench.sleep(0..<300, user: 2), Bench.sleep(50..<200), Bench.sleep(400..<500)])
    }
}
