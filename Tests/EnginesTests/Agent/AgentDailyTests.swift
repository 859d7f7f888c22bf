import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// Queries for days that are first read from the device.
@Suite struct AgentDailyTests {
    private static let today = Fixture.berlin.day(of: Fixture.noon)

    private static func rig(_ environment: Simulation, _ metric: Metric, _ samples: [Sample]) -> AgentRig {
        AgentRig(
            environment, capabilities: Capabilities([metric: [.history]]), content: .init(history: [metric: samples]),
            policy: DevicePolicy(calendar: Fixture.berlin))
    }

    private func days(_ answer: Answer) throws -> [DayRecord] {
        try #require(answer.asDays, "\(answer)")
    }

    private func lastRead(_ rig: AgentRig) -> HistoryRequest? {
        rig.calls.compactMap(\.asHistory).last
    }

    @Test func `reads today's resting heart rate, and answers with it`() throws {
        let yesterday = Sample(
            metric: .restingHeartRate, start: Fixture.noon - .days(1), kind: .resting, reading: .value(54))
        try AgentRig.synced(0..<5, from: { Self.rig($0, .restingHeartRate, [yesterday]) }) { rig, agent in
            let measured = Sample(
                metric: .restingHeartRate, start: Fixture.minute(-30), kind: .resting, reading: .value(51))
            rig.change { $0.history[.restingHeartRate]?.append(measured) }
            let answer = try await rig.ask(
                .daily(.restingHeartRate, from: Self.today, to: Self.today, syncsFirst: true), "d", of: agent)
            let day = try #require(try days(answer).first)
            #expect(try days(answer).count == 1)
            guard case .values(let extremes) = day.summary.details else {
                Issue.record("\(day.summary)")
                return
            }
            #expect(extremes.resting.map(\.sample) == [measured])
            #expect(day.summary.average == 51)
        }
    }

    @Test func `reads from the first day's local midnight to the end of the last, and never beyond now`() throws {
        try AgentRig.synced(0..<3, from: { Self.rig($0, .stress, []) }) { rig, agent in
            let first = Self.today.advanced(by: -3)
            _ = try await rig.ask(
                .daily(.stress, from: first, to: Self.today.advanced(by: -1), syncsFirst: true), "a", of: agent)
            // Midnight in Berlin is 23:00 UTC, and it is noon UTC now.
            #expect(lastRead(rig)?.from == Fixture.noon - .hours(13) - .days(3))
            #expect(lastRead(rig)?.to == Fixture.noon - .hours(13))
            _ = try await rig.ask(.daily(.stress, from: first, to: Self.today, syncsFirst: true), "b", of: agent)
            let to = try #require(lastRead(rig)?.to)
            #expect(to >= Fixture.noon && to <= rig.environment.gatewayClock.now)
        }
    }

    @Test func `reads the night that ended on the first day, which began before it`() throws {
        let night = Sample(
            metric: .sleep, start: Fixture.noon - .hours(14), end: Fixture.noon - .hours(6),
            reading: .sleep(
                Sleep(stages: [
                    Sleep.Stage(.light, from: Fixture.noon - .hours(14), to: Fixture.noon - .hours(6))
                ])))
        try AgentRig.synced(0..<3, from: { Self.rig($0, .sleep, []) }) { rig, agent in
            rig.change { $0.history[.sleep] = [night] }
            let answer = try await rig.ask(
                .daily(.sleep, from: Self.today, to: Self.today, syncsFirst: true), "d", of: agent)
            #expect(try days(answer).map(\.summary.count) == [1])
        }
    }

    @Test(arguments: [1, 3, 6])
    func `a sleep counts on the day on which it ends, however long it was`(days: Int) throws {
        let end = Fixture.noon - .days(1)
        // Nobody is asleep for days; in bed one may be.
        let (start, asleep) = (end - .days(days), end - .hours(10))
        let stages = [Sleep.Stage(.inBed, from: start, to: asleep), Sleep.Stage(.light, from: asleep, to: end)]
        let sleep = Sample(metric: .sleep, start: start, end: end, reading: .sleep(Sleep(stages: stages)))
        #expect(sleep.isValid)
        try AgentRig.synced(0..<2, from: { Self.rig($0, .sleep, [sleep]) }) { rig, agent in
            let answer = try await rig.ask(
                .daily(.sleep, from: Self.today.advanced(by: -9), to: Self.today, syncsFirst: false), "d",
                of: agent)
            let counted = try self.days(answer).filter { $0.summary.count > 0 }
            #expect(counted.map(\.summary.day) == [Self.today.advanced(by: -1)])
            #expect(counted.map(\.summary.count) == [1])
        }
    }

    @Test func `answers with days in their order, from the past to the running one`() throws {
        let samples = (0..<5).map { Fixture.sample(.stress, Double(20 + $0), at: -$0 * 1440) }
        try AgentRig.synced(0..<3, from: { Self.rig($0, .stress, samples) }) { rig, agent in
            let answer = try await rig.ask(
                .daily(.stress, from: Self.today.advanced(by: -4), to: Self.today, syncsFirst: false), "d",
                of: agent)
            let days = try days(answer)
            #expect(days.map(\.summary.day) == (-4...0).map { Self.today.advanced(by: $0) })
            #expect(days.map(\.summary.average) == [24, 23, 22, 21, 20])
            #expect(days.map(\.isFinal) == [true, true, true, true, false])
        }
    }

    @Test func `counts a withdrawn record neither in the running day nor in the answer`() throws {
        func steps(_ count: Int, lasting minutes: Int, isManual: Bool) -> Sample {
            Sample(
                metric: .steps, start: Fixture.minute(-60), end: Fixture.minute(-60 + minutes),
                isUserInitiated: isManual, reading: .count(Increment(count: count)))
        }
        func workout(at minute: Int, lasting length: Int, _ metres: Double) -> Sample {
            var sample = Fixture.workout(at: minute, lasting: length)
            sample.reading = .sport(Sport(activity: "running", distance: metres))
            return sample
        }
        let before = [
            steps(100, lasting: 10, isManual: false), workout(at: -60, lasting: 10, 1000),
            workout(at: -45, lasting: 10, 1000),
        ]
        let after = [steps(300, lasting: 20, isManual: true), workout(at: -60, lasting: 35, 1500)]
        try AgentRig.synced(
            0..<3, capabilities: Capabilities([.steps: [.history], .sport: [.history]]),
            given: { rig in
                rig.change { $0.history = Dictionary(grouping: before, by: \.metric) }
            }
        ) { rig, agent in
            try await rig.wait { Self.running($0, .sport)?.count == 2 }
            let count = rig.count
            rig.change { $0.history = Dictionary(grouping: before + after, by: \.metric) }
            _ = try await rig.ask(.sync(metrics: [], from: nil, to: nil), "s", of: agent)
            let day = Fixture.utc.day(of: Fixture.noon)
            var answers: [Metric: DailySummary] = [:]
            for metric in [Metric.steps, .sport] {
                let answer = try await rig.ask(
                    .daily(metric, from: day, to: day, syncsFirst: false), "\(metric)", of: agent)
                answers[metric] = try days(answer).first?.summary
                let reported = answers[metric]
                try await rig.wait(after: count) { Self.running($0, metric) == reported }
            }
            let walked = try #require(answers[.steps])
            #expect((walked.count, walked.manualCount) == (1, 1))
            #expect(walked.details == .count(total: 300, distance: nil, energy: nil))
            let sport = try #require(answers[.sport])
            #expect(sport.count == 1)
            guard case .sport(let totals) = sport.details else { throw CancellationError() }
            #expect((totals.sessions, totals.minutes, totals.distance) == (1, 35, 1500))
            #expect(totals.workouts.count == 1)
        }
    }

    private static func running(_ state: DeviceState, _ metric: Metric) -> DailySummary? {
        state.asToday.map(\.summary).flatMap { $0.metric == metric ? $0 : nil }
    }

    @Test(arguments: [Metric.heartRate, .bloodPressure, .bloodOxygen, .stress, .temperature])
    func `gives what a person started, what was automatic, and both in the order of time`(metric: Metric) throws {
        let samples = (1...9).map { number in
            Sample(
                metric: metric, start: Fixture.minute(-number), isUserInitiated: number % 3 == 0,
                reading: metric == .bloodPressure
                    ? .bloodPressure(BloodPressure(systolic: 120, diastolic: 80)) : .value(40))
        }
        try AgentRig.synced(0..<2, from: { Self.rig($0, metric, samples) }) { rig, agent in
            let cases: [(Bool?, [Int])] = [
                (true, [-9, -6, -3]), (false, [-8, -7, -5, -4, -2, -1]), (nil, Array(-9..<0)),
            ]
            for (isManual, wanted) in cases {
                let answer = try await rig.ask(
                    .history(
                        metric, from: nil, to: nil, limit: 100, page: nil, syncsFirst: false,
                        isUserInitiated: isManual), "h\(isManual as Any)", of: agent)
                guard case .samples(let found, metric, nil) = answer.data else {
                    Issue.record("\(answer)")
                    return
                }
                #expect(found.map(\.sample.start) == wanted.map { Fixture.minute($0) })
            }
        }
    }

    @Test(arguments: [Metric.restingHeartRate, .heartRate, .bloodPressure, .bloodOxygen])
    func `a day that cannot be read from the device is answered with the device's reason`(metric: Metric) throws {
        try AgentRig.synced(0..<3, from: { Self.rig($0, metric, []) }) { rig, agent in
            rig.behave(.fail(DeviceError(.failure, "flash error")), on: .history)
            let answer = try await rig.ask(
                .daily(metric, from: Self.today, to: Self.today, syncsFirst: true), "d", of: agent)
            #expect(answer.status == .failed)
            #expect(answer.code == .deviceError)
            #expect(answer.message == "flash error")
            #expect(answer.data == nil)
        }
    }
}
