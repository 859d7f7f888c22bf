import Testing

@testable import Vitals

@Suite struct HeartRateZonesTests {
    private typealias Make = DailySamples

    @Test(
        arguments: [
            (94.9, nil), (95, 0), (113.9, 0), (114, 1), (133, 2), (151.9, 2), (152, 3), (170.9, 3), (171, 4), (300, 4),
        ] as [(Double, Int?)]) func `a zone begins at its part of the maximum`(value: Double, zone: Int?)
    {
        #expect(HeartRateZones.zone(of: value, maximum: 190) == zone)
    }

    private func minutes(_ samples: [StoredSample], until end: Int? = nil) -> [Double] {
        var tally = ZoneTally(maximum: 200)
        let taken = samples.map { tally.add($0.sample) }
        #expect(!taken.contains(false))
        if let end { tally.end(at: Make.midnight + .minutes(end)) }
        return tally.zones.minutes
    }

    @Test func `a heart rate stands for the time until the next one, five minutes at most`() {
        let samples = [(0, 110.0), (2, 130), (3, 80), (4, 190), (60, 90)].map { Make.value($0.1, at: $0.0) }
        #expect(minutes(samples) == [2, 1, 0, 0, 5])
        #expect(minutes(samples, until: 61) == [2, 1, 0, 0, 5])
        #expect(minutes(Array(samples.prefix(2))) == [2, 0, 0, 0, 0])
        #expect(minutes(Array(samples.prefix(2)), until: 3) == [2, 1, 0, 0, 0])
        #expect(minutes(Array(samples.prefix(2)), until: 30) == [2, 5, 0, 0, 0])
        #expect(minutes([]) == [0, 0, 0, 0, 0])
    }

    @Test func `extremes of a period count for nothing, values at rest do`() {
        let samples = [
            Make.value(110, at: 0, kind: .resting), Make.value(190, at: 1, kind: .maximum),
            Make.value(60, at: 2, kind: .minimum), Make.value(110, at: 3),
        ]
        #expect(minutes(samples) == [3, 0, 0, 0, 0])
    }

    @Test func `minutes have one decimal, and seconds are not lost`() {
        var zones = HeartRateZones()
        for _ in 0..<100 { zones.add(150, for: .milliseconds(1_070), maximum: 200) }
        #expect(zones.milliseconds == [0, 0, 107_000, 0, 0])
        #expect(zones.minutes == [0, 0, 1.8, 0, 0])
        #expect(HeartRateZones(milliseconds: zones.milliseconds) == zones)
        #expect(HeartRateZones(milliseconds: [1, 2]) == nil)
    }

    @Test func `what comes before the last one is not taken`() {
        var tally = ZoneTally(maximum: 200)
        let samples = [(5, false), (4, false), (5, true), (5, false), (6, false)]
        let taken = samples.map { tally.add(Make.value(110, at: $0.0, isManual: $0.1).sample) }
        #expect(taken == [true, false, true, false, true])
        #expect(tally.zones.minutes == [1, 0, 0, 0, 0])
    }

    @Test func `lists the first workouts of a day that has too many`() {
        let workouts = (0..<60).map {
            Make.stored(.sport, at: $0 * 20, lasting: 5, .sport(Sport(activity: "run \($0)")))
        }
        for order in [workouts, workouts.reversed()] {
            guard case .sport(let totals) = DailySummary(metric: .sport, day: Make.day, samples: order).details else {
                Issue.record("a day of sport has totals")
                return
            }
            #expect(totals.sessions == 60)
            #expect(totals.workouts.map(\.id) == workouts.prefix(48).map(\.id))
            #expect(totals.workouts.map(\.activity) == (0..<48).map { "run \($0)" })
        }
    }
}
