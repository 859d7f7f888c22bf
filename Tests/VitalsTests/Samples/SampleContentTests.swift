import Testing
import Vitals

@Suite struct SampleContentTests {
    private static let start = Timestamp(milliseconds: 1_795_000_000_000)
    private static let sample = Sample(
        metric: .heartRate, start: start, end: start + .seconds(30), isExercise: false, revision: 1, user: 1,
        reading: .value(60))

    @Test func `is the same whatever revision the device gives it`() {
        var other = Self.sample
        other.revision = 7
        #expect(Self.sample.hasSameContent(as: other))
        other.revision = nil
        #expect(Self.sample.hasSameContent(as: other))
    }

    static let changes: [@Sendable (inout Sample) -> Void] = [
        { $0.metric = .restingHeartRate }, { $0.start = start - .seconds(1) }, { $0.end = start },
        { $0.kind = .maximum },
        { $0.isUserInitiated = true }, { $0.isExercise = nil }, { $0.user = 2 }, { $0.reading = .value(61) },
        { $0.qualifiers = [.statistic: "sdnn"] },
    ]

    @Test(arguments: changes.indices)
    func `is another one when anything else differs`(index: Int) {
        var other = Self.sample
        Self.changes[index](&other)
        #expect(!Self.sample.hasSameContent(as: other))
    }

    @Test func `is the same whichever source has recorded it`() {
        var other = Self.sample
        other.origin = SampleOrigin(place: 1, name: "Watch")
        #expect(other == Self.sample && other.hashValue == Self.sample.hashValue)
        other.revision = 2
        #expect(other != Self.sample)
    }

    @Test func `a source is known again by the beginning of its name`() {
        let long = String(repeating: "é", count: SampleOrigin.maximumName)
        let origin = SampleOrigin(place: 1, name: long)
        #expect(origin.name == long)
        #expect(SampleOrigin(place: 1, name: long + "x").name == long)
        #expect(Precedence(of: SampleOrigin(place: 2, name: long + "y"), over: origin) == .same)
        #expect(Precedence(of: SampleOrigin(place: 2, name: "a"), over: origin) == .behind)
        #expect(Precedence(of: origin, over: nil) == .before && Precedence(of: nil, over: nil) == .same)
    }

    @Test func `steps may have a part of one`() throws {
        let steps = try #require(Increment(amount: 1.5659, distance: 2))
        #expect(steps == Increment(count: 1, thousandths: 566, distance: 2) && steps.amount == 1.566)
        #expect(Increment(amount: 0.9996) == Increment(count: 1))
        for amount in [-0.1, 1e13, .infinity, .nan] as [Double] { #expect(Increment(amount: amount) == nil) }
        #expect(Increment(amount: 1e12)?.count == 1_000_000_000_000)
    }

    @Test func `lasts from its start to its end, a spot value no time`() {
        #expect(Self.sample.duration == .seconds(30))
        let spot = Sample(metric: .stress, start: Self.start, reading: .value(20))
        #expect(spot.end == Self.start)
        #expect(spot.duration == .zero)
        #expect(spot.kind == .normal)
        #expect(!spot.isUserInitiated)
    }

    @Test func `has the number that its metric publishes`() {
        let end = Self.start + .seconds(3_599)
        let stages = [
            Sleep.Stage(.deep, from: Self.start, to: Self.start + .seconds(90)),
            Sleep.Stage(.light, from: Self.start + .seconds(90), to: Self.start + .seconds(210)),
            Sleep.Stage(.awake, from: Self.start + .seconds(210), to: end),
        ]
        func value(_ metric: Metric, _ reading: Reading) -> Double? {
            Sample(metric: metric, start: Self.start, end: end, reading: reading).value
        }
        #expect(value(.stress, .value(12)) == 12)
        #expect(value(.bloodPressure, .bloodPressure(BloodPressure(systolic: 120, diastolic: 80))) == nil)
        #expect(value(.steps, .count(Increment(count: 42))) == 42)
        #expect(value(.sleep, .sleep(Sleep(stages: stages))) == 3)
        #expect(value(.sport, .sport(Sport(activity: "walking"))) == 59)
    }

    @Test func `asleep counts as sleep, in bed does not, and minutes without times count as those with`() {
        let at = Self.start
        let unstaged = Sleep(stages: [
            Sleep.Stage(.inBed, from: at, to: at + .minutes(20)),
            Sleep.Stage(.asleep, from: at + .minutes(20), to: at + .minutes(284)),
            Sleep.Stage(.awake, from: at + .minutes(284), to: at + .minutes(285)),
        ])
        #expect(unstaged.minutesAsleep == 264 && unstaged.minutes(.inBed) == 20 && unstaged.minutes(.awake) == 1)
        let totals = Sleep(
            stages: [Sleep.Stage(.deep, from: at, to: at + .minutes(30))], untimed: [.deep: 12, .light: 38, .inBed: 5])
        #expect(totals.minutesAsleep == 80 && totals.minutes(.deep) == 42 && totals.minutes(.inBed) == 5)
        #expect(Sleep(stages: [], untimed: [.deep: .max, .rem: 1]).minutesAsleep == .max)
    }

    /// Minutes by depth, and what a sleep of them says.
    static let details: [([Sleep.Stage.Depth: Int], Sleep.Detail)] = [
        ([:], .inBed), ([.inBed: 480], .inBed), ([.inBed: 60, .awake: 5], .inBed), ([.asleep: 1], .asleep),
        ([.asleep: 420, .inBed: 20], .asleep), ([.asleep: 3, .light: 2], .asleep), ([.asleep: 2, .light: 2], .stages),
        ([.asleep: 2, .rem: 3], .stages), ([.deep: 90, .awake: 200], .stages), ([.awake: 33], .stages),
    ]

    @Test(arguments: details)
    func `a sleep says more with stages than without, and least without a minute asleep`(
        minutes: [Sleep.Stage.Depth: Int], detail: Sleep.Detail
    ) {
        #expect(Sleep(stages: [], untimed: minutes).detail == detail)
        #expect(Sleep.Detail.inBed < .asleep && Sleep.Detail.asleep < .stages)
    }

    @Test func `distances of two activities are two records, and one without an activity may be either`() {
        func key(_ activity: String?, from minute: Int = 0) -> SampleKey {
            let start = Self.start + .minutes(minute)
            return SampleKey(
                Sample(
                    metric: .distance, start: start, end: start + .minutes(10),
                    qualifiers: activity.map { [.activity: $0] } ?? [:], reading: .count(Increment(count: 1))))
        }
        #expect(!key("cycling").excludes(key("swimming"), of: .distance))
        #expect(!key("cycling").overlaps(key("swimming", from: 5)))
        #expect(key("cycling").overlaps(key("cycling", from: 5)) && key("cycling").overlaps(key(nil, from: 5)))
        #expect(key(nil).excludes(key("cycling"), of: .distance))
        #expect(SampleKey(page: key("cycling").page) == key("cycling"))
    }

    @Test func `does not stop the program on stages out of all time`() {
        let stage = Sleep.Stage(.deep, from: Timestamp(milliseconds: .min), to: Timestamp(milliseconds: .max))
        #expect(Sleep(stages: [stage, stage]).minutes(.deep) == Int(Int64.max / 60_000))
    }
}
