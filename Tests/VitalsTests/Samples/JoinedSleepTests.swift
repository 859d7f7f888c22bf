import Testing
import Vitals

@Suite struct JoinedSleepTests {
    private static let start = Timestamp(seconds: 1_768_000_000)

    private static func sleep(_ from: Duration, _ to: Duration, stages: Int = 1, isManual: Bool = false) -> Sample {
        let step = Duration.milliseconds((to - from).inMilliseconds / Int64(max(1, stages)))
        let all = (0..<stages).map { number in
            Sleep.Stage(
                number % 2 == 0 ? .light : .deep, from: start + from + step * number,
                to: start + from + step * (number + 1))
        }
        return Sample(
            metric: .sleep, start: start + from, end: start + to, isUserInitiated: isManual,
            reading: .sleep(Sleep(stages: all)))
    }

    @Test func `sessions that touch within a minute are one sleep`() throws {
        let first = Self.sleep(.zero, .hours(1))
        let joined = try #require(first.joined(with: Self.sleep(.hours(1) + SleepSessions.touch, .hours(2))))
        #expect(joined.start == Self.start && joined.end == Self.start + .hours(2))
        #expect(joined.value == 119)
        let overlap = try #require(first.joined(with: Self.sleep(.hours(1) - SleepSessions.touch, .hours(2))))
        #expect(overlap.value == 120 && overlap.isValid)
        let beyond = SleepSessions.touch + .milliseconds(1)
        #expect(first.joined(with: Self.sleep(.hours(1) + beyond, .hours(2))) == nil)
        #expect(first.joined(with: Self.sleep(.hours(1) - beyond, .hours(2))) == nil)
        #expect(first.joined(with: Self.sleep(.hours(1), .hours(2), isManual: true)) == nil)
        #expect(first.joined(with: Sample(metric: .heartRate, start: first.end, reading: .value(60))) == nil)
    }

    @Test func `minutes without times are joined as well`() throws {
        func session(_ from: Duration, _ to: Duration, _ minutes: [Sleep.Stage.Depth: Int]) -> Sample {
            Sample(
                metric: .sleep, start: Self.start + from, end: Self.start + to,
                reading: .sleep(Sleep(stages: [], untimed: minutes)))
        }
        let joined = try #require(
            session(.zero, .hours(1), [.deep: 20, .asleep: 30])
                .joined(with: session(.hours(1), .hours(2), [.deep: 10, .awake: 5])))
        #expect(joined.reading == .sleep(Sleep(stages: [], untimed: [.deep: 30, .asleep: 30, .awake: 5])))
        #expect(joined.value == 60 && joined.isValid)
    }

    @Test func `sessions are joined to a sleep of a day at most, with as many stages as one can have`() {
        let day = SleepSessions.longest
        let first = Self.sleep(.zero, .hours(1))
        #expect(first.joined(with: Self.sleep(.hours(1), day))?.duration == day)
        #expect(first.joined(with: Self.sleep(.hours(1), day + .milliseconds(1))) == nil)
        let rest = SampleLimits.stages - 1
        #expect(first.joined(with: Self.sleep(.hours(1), .hours(9), stages: rest))?.isValid == true)
        #expect(first.joined(with: Self.sleep(.hours(1), .hours(9), stages: rest + 1)) == nil)
    }

    @Test func `a session in which no stage is asleep is asleep where it is not awake, but for roundings`() {
        func stage(_ depth: Sleep.Stage.Depth, _ from: Duration, _ to: Duration) -> Sleep.Stage {
            Sleep.Stage(depth, from: Self.start + from, to: Self.start + to)
        }
        func completed(_ stages: [Sleep.Stage]) -> [Sleep.Stage] {
            stages.completed(from: Self.start, to: Self.start + .hours(8))
        }
        #expect(completed([]) == [stage(.asleep, .zero, .hours(8))])
        let (up, late) = (
            stage(.awake, .hours(3), .hours(4)), stage(.awake, .hours(7), .hours(8) - SleepSessions.touch)
        )
        #expect(
            completed([up, late]) == [stage(.asleep, .zero, .hours(3)), up, stage(.asleep, .hours(4), .hours(7)), late])
        let light = stage(.light, .hours(1), .hours(2))
        #expect(completed([light, up]) == [light, up])
        let many = (0..<SampleLimits.stages / 2).map { stage(.awake, .minutes(3 * $0), .minutes(3 * $0 + 1)) }
        #expect(completed(many) == many)
    }
}
