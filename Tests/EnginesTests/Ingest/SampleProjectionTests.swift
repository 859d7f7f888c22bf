import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@Suite struct SampleProjectionTests {
    private func projection(
        highWater: [Metric: Timestamp] = [:], levels: [AlertRule: AlertLevel] = [:]
    ) -> SampleProjection {
        SampleProjection(
            device: Fixture.device, highWater: highWater, levels: levels,
            today: RunningDay(day: Fixture.utc.day(of: Fixture.noon)))
    }

    private func context(
        _ source: SampleSource = .live, at minute: Int = 0, isWorn: Bool = true,
        policy: AlertPolicy = AlertPolicy(count: [:])
    ) -> IngestContext {
        IngestContext(
            source: source, now: Fixture.minute(minute), freshness: [.heartRate: .minutes(30)],
            settings: Fixture.limits, policy: policy, isWorn: isWorn, calendar: Fixture.utc)
    }

    private func measurements(_ decision: Recording) -> [(lane: Lane, measurement: Fact.Measurement)] {
        decision.facts.compactMap { fact in
            if case .measurement(let measurement) = fact.content { (fact.lane, measurement) } else { nil }
        }
    }

    private func alerts(_ decision: Recording) -> [String] {
        decision.facts.compactMap { fact in
            guard case .alert(let event, let isLate) = fact.content else { return nil }
            #expect(fact.lane == .alert)
            return "\(event.rule.name) \(event.edge)\(isLate ? " late" : "")"
        }
    }

    @Test(
        arguments: [
            // source, minutes ago, mark in minutes, historical, lane
            (SampleSource.live, 0, nil, false, Lane.live),
            (.live, 60, nil, false, .live),
            (.live, 61, nil, true, .history),
            (.live, 10, -10, true, .history),
            (.live, 9, -10, false, .live),
            (.measure, 0, nil, false, .live),
            (.sync, 0, nil, false, .history),
            (.sync, 29, nil, false, .history),
            (.sync, 30, nil, true, .history),
            (.sync, 5, 0, true, .history),
        ] as [(SampleSource, Int, Int?, Bool, Lane)]) func `distinguishes history from now`(
            source: SampleSource, ago: Int, mark: Int?, isHistorical: Bool, lane: Lane
        )
    {
        let projection = projection(highWater: mark.map { [.heartRate: Fixture.minute($0)] } ?? [:])
        let decision = projection.recording([Fixture.new(Fixture.heartRate(70, at: -ago))], in: context(source))
        #expect(measurements(decision).map(\.lane) == [lane])
        #expect(measurements(decision).map(\.measurement.isHistorical) == [isHistorical])
        #expect(measurements(decision).map(\.measurement.source) == [source])
    }

    @Test func `what is known changes nothing`() {
        let sample = Fixture.heartRate(150, at: 0)
        let decision = projection().recording(
            [SampleOutcome(stored: Fixture.stored(sample), novelty: .known)], in: context())
        #expect(decision.facts.isEmpty)
        #expect(decision.highWater.isEmpty && decision.levels.isEmpty && decision.unsettledDays.isEmpty)
        #expect(decision.projection.latest.isEmpty)
        #expect(projection().recording([], in: context()).facts.isEmpty)
    }

    @Test func `a live sample and its synchronised copy raise one alert`() {
        let sample = Fixture.heartRate(150, at: 0)
        let live = projection().recording([Fixture.new(sample)], in: context())
        #expect(alerts(live) == ["heart_rate_resting_high raised"])
        #expect(live.levels.map(\.isActive) == [true])
        let copy = live.projection.recording(
            [SampleOutcome(stored: Fixture.stored(sample), novelty: .known)], in: context(.sync))
        #expect(copy.facts.isEmpty)
    }

    @Test func `a message has one metric and person, is historical or not, and has at most 200 samples`() {
        var outcomes = (0..<450).map { Fixture.new(Fixture.heartRate(60, at: -1_000 + $0)) }
        outcomes += (0..<3).map { Fixture.new(Fixture.sample(.stress, 30, at: -3 + $0)) }
        var other = Fixture.sample(.stress, 30, at: 0)
        other.user = 2
        outcomes.append(Fixture.new(other))
        let all = measurements(projection().recording(outcomes, in: context(.sync)))
        #expect(all.filter { $0.measurement.metric == .heartRate }.map(\.measurement.samples.count) == [200, 200, 50])
        #expect(all.filter { $0.measurement.metric == .stress }.map(\.measurement.user) == [nil, 2])
        let order = all.filter { $0.measurement.metric == .heartRate }.flatMap(\.measurement.samples).map(
            \.sample.start)
        #expect(order == order.sorted())
        // Fresh and old samples never share a message.
        let mixed = (0..<40).map { Fixture.new(Fixture.heartRate(60, at: -$0)) }.reversed()
        let parts = measurements(projection().recording(Array(mixed), in: context(.sync))).map(\.measurement)
        #expect(parts.map(\.isHistorical) == [true, false])
        #expect(parts.map(\.samples.count) == [10, 30])
    }

    @Test func `a message has at most a thousand stages, or one sleep`() {
        func night(_ day: Int, stages: Int) -> SampleOutcome {
            let start = Fixture.noon + .hours(24 * day)
            let parts = (0..<stages).map {
                Sleep.Stage(.light, from: start + .seconds($0), to: start + .seconds($0 + 1))
            }
            return Fixture.new(
                Sample(
                    metric: .sleep, start: start, end: start + .seconds(stages), reading: .sleep(Sleep(stages: parts))))
        }
        let nights = [400, 600, 1, 2_880, 999, 2].enumerated().map { night($0.offset - 9, stages: $0.element) }
        let all = measurements(projection().recording(nights, in: context(.sync))).map(\.measurement)
        #expect(all.flatMap(\.samples).map(\.sample.start) == nights.map(\.stored.sample.start))
        #expect(all.map(\.samples.count) == [2, 1, 1, 1, 1])
    }

    @Test func `the high-water mark and the latest only move forward`() {
        var current = projection()
        for (minute, latest) in [(-5, -5), (-9, -5), (-5, -5), (-1, -1)] {
            let decision = current.recording([Fixture.new(Fixture.heartRate(70, at: minute))], in: context())
            #expect(decision.projection.highWater[.heartRate] == Fixture.minute(latest))
            #expect(decision.projection.latest[.heartRate]?.sample.start == Fixture.minute(latest))
            #expect(decision.highWater.isEmpty == (current.highWater == decision.projection.highWater))
            current = decision.projection
        }
    }

    @Test func `a mark from a clock that ran ahead does not hide what comes now`() {
        let projection = projection(highWater: [.heartRate: Fixture.noon + .days(300)])
        let decision = projection.recording([Fixture.new(Fixture.heartRate(70, at: 0))], in: context())
        #expect(decision.highWater[.heartRate] == Fixture.noon)
        #expect(measurements(decision).map(\.lane) == [.live])
    }

    @Test func `with a clock that runs behind, an older sample does not become the latest`() {
        var current = projection()
        for minute in [8, 7] {
            current = current.recording([Fixture.new(Fixture.heartRate(70, at: minute))], in: context()).projection
        }
        #expect(current.latest[.heartRate]?.sample.start == Fixture.minute(8))
    }

    @Test func `a correction of the newest is the latest, and no alert`() {
        let first = projection().recording([Fixture.new(Fixture.heartRate(70, at: 0))], in: context())
        let corrected = Fixture.stored(Fixture.heartRate(150, at: 0), revision: 2)
        let decision = first.projection.recording(
            [SampleOutcome(stored: corrected, novelty: .corrected)], in: context())
        #expect(decision.projection.latest[.heartRate] == corrected)
        #expect(alerts(decision).isEmpty)
        #expect(decision.projection.today.outdated == [.heartRate])
    }

    @Test func `late data raises only history events, and no level`() {
        let decision = projection().recording(
            [Fixture.new(Fixture.heartRate(150, at: -60)), Fixture.new(Fixture.heartRate(80, at: -59))],
            in: context(.sync))
        #expect(alerts(decision) == ["heart_rate_resting_high raised late", "heart_rate_resting_high cleared late"])
        #expect(decision.levels.isEmpty)
    }

    @Test func `late data after live data is a run of its own`() {
        var current = projection()
        var events: [[String]] = []
        for (value, minute, source) in [(150.0, -300, SampleSource.sync), (80, -200, .live), (150, -250, .sync)] {
            let decision = current.recording(
                [Fixture.new(Fixture.heartRate(value, at: minute))], in: context(source, at: minute == -200 ? -200 : 0))
            events.append(alerts(decision))
            current = decision.projection
        }
        #expect(events == [["heart_rate_resting_high raised late"], [], ["heart_rate_resting_high raised late"]])
    }

    @Test func `a heart rate within a workout counts as exercise, also after a restart`() {
        let workout = Fixture.new(Fixture.workout(at: -60, lasting: 30))
        let known = SampleOutcome(stored: workout.stored, novelty: .known)
        for outcome in [workout, known] {
            let sport = projection().recording([outcome], in: context(.sync))
            let inside = sport.projection.recording([Fixture.new(Fixture.heartRate(150, at: -45))], in: context(.sync))
            #expect(alerts(inside).isEmpty)
            let outside = sport.projection.recording([Fixture.new(Fixture.heartRate(150, at: -30))], in: context(.sync))
            #expect(alerts(outside) == ["heart_rate_resting_high raised late"])
        }
    }

    @Test(
        arguments: [
            (true, Sample.Kind.normal, [String]()), (false, .normal, ["heart_rate_resting_high raised"]),
            (nil, .resting, ["heart_rate_resting_high raised"]),
        ] as [(Bool?, Sample.Kind, [String])]) func `the device knows best what is exercise`(
            isExercise: Bool?, kind: Sample.Kind, expected: [String]
        )
    {
        let sample = Fixture.heartRate(150, at: 0, isExercise: isExercise, kind: kind)
        #expect(alerts(projection().recording([Fixture.new(sample)], in: context())) == expected)
    }

    @Test func `the resting heart rate has the limits of rest`() {
        let sample = Fixture.sample(.restingHeartRate, 120, at: 0)
        #expect(
            alerts(projection().recording([Fixture.new(sample)], in: context())) == ["heart_rate_resting_high raised"])
    }

    @Test func `marks each day once, and counts today`() {
        let outcomes = [
            Fixture.new(Fixture.steps(10, at: -1440)), Fixture.new(Fixture.steps(20, at: -1430)),
            Fixture.new(Fixture.steps(30, at: -60)), Fixture.new(Fixture.sample(.battery, 50, at: 0)),
        ]
        let decision = projection().recording(outcomes, in: context(.sync))
        let today = Fixture.utc.day(of: Fixture.noon)
        #expect(
            decision.unsettledDays == [
                MetricDay(.steps, today.advanced(by: -1)), MetricDay(.steps, today),
            ])
        #expect(decision.projection.today.summary(of: .steps).count == 1)
        #expect(decision.projection.today.metrics == [.steps])
        #expect(
            decision.projection.recording([Fixture.new(Fixture.steps(1, at: -1420))], in: context()).unsettledDays == []
        )
    }

    @Test(arguments: [(0, ""), (-29, ""), (-30, " late")]) func `an alert of the device is late like a sample`(
        minute: Int, suffix: String
    ) {
        let alert = DeviceAlert(rule: Fixture.restingHigh, edge: .raised, value: 130, at: Fixture.minute(minute))
        let decision = projection().recording(alert, in: context())
        #expect(alerts(decision) == ["heart_rate_resting_high raised" + suffix])
        #expect(decision.levels.isEmpty == !suffix.isEmpty)
    }

    @Test func `a warning is raised for itself, has the same id whenever it comes, and changes no level`() {
        func warning(_ warning: AlertRule.Warning, _ minute: Int) -> DeviceAlert {
            DeviceAlert(rule: AlertRule(warning), edge: .raised, value: 131, limit: 120, at: Fixture.minute(minute))
        }
        func events(_ decision: Recording) -> [AlertEvent] {
            decision.facts.compactMap { fact in
                if case .alert(let event, _) = fact.content { event } else { nil }
            }
        }
        let all = [warning(.highHeartRate, -30), warning(.highHeartRate, -29), warning(.fibrillation, -29)]
        let now = projection().recording(warnings: all, in: context())
        #expect(
            alerts(now) == [
                "heart_rate_warning_high raised late", "heart_rate_warning_high raised",
                "ecg_atrial_fibrillation raised",
            ])
        #expect(now.levels == [] && now.projection.alerts.levels == [])
        #expect(events(now).map(\.measuredAt) == all.map(\.at) && events(now).map(\.raisedAt) == all.map(\.at))
        #expect(events(now).allSatisfy { $0.value == 131 && $0.limit == 120 && $0.origin == .device })
        let later = now.projection.recording(warnings: all, in: context(at: 600))
        #expect(alerts(later).allSatisfy { $0.hasSuffix(" late") })
        #expect(events(later).map(\.id) == events(now).map(\.id) && Set(events(now).map(\.id)).count == 3)
    }

    @Test func `a warning in its quiet hours is only for the history`() {
        let rule = AlertRule(.irregularRhythm)
        let hours = AlertPolicy.QuietHours(from: 12 * 60, to: 12 * 60 + 30, rules: [rule])
        let warning = DeviceAlert(rule: rule, edge: .raised, value: nil, at: Fixture.minute(5))
        let decision = projection().recording(
            warnings: [warning], in: context(at: 6, policy: AlertPolicy(quietHours: [hours])))
        #expect(alerts(decision) == ["heart_rhythm_irregular raised late"])
    }

    @Test func `limits that are switched off clear their alerts`() {
        let level = AlertLevel(rule: Fixture.restingHigh, isActive: true, since: Fixture.noon)
        let decision = projection(levels: [Fixture.restingHigh: level]).recording(
            limitsOf: MonitorSettings(), before: Fixture.limits, in: context())
        #expect(alerts(decision) == ["heart_rate_resting_high cleared"])
        #expect(decision.levels.map(\.isActive) == [false])
    }

    @Test func `a rule has a level once it has a limit, and keeps it without one`() {
        let levels = AlertRule.watching(.heartRate).map { AlertLevel(rule: $0, isActive: false, since: Fixture.noon) }
        let settings = MonitorSettings([Fixture.limits[.heartRate] ?? .fixture(of: .heartRate)])
        let first = projection().recording(limitsOf: settings, before: MonitorSettings(), in: context())
        #expect(first.levels == levels)
        #expect(first.facts.isEmpty)
        #expect(first.projection.alerts.levels == levels)
        #expect(!first.projection.alerts.isBehind(settings, before: settings))
        let again = first.projection.recording(limitsOf: settings, before: settings, in: context(at: 1))
        #expect(again.levels.isEmpty)
        let none = again.projection.recording(
            limitsOf: MonitorSettings(), before: settings, in: context(at: 2))
        #expect(none.levels.isEmpty)
        #expect(none.projection.alerts.levels == levels)
    }

    @Test func `a value before the first level does not stand in for it`() {
        let quiet = projection().recording([Fixture.new(Fixture.heartRate(70, at: -1))], in: context())
        #expect(quiet.projection.alerts.levels == [])
        #expect(quiet.projection.alerts.isBehind(Fixture.limits, before: MonitorSettings()))
        let begun = quiet.projection.recording(limitsOf: Fixture.limits, before: MonitorSettings(), in: context())
        #expect(begun.levels.contains { $0.rule == Fixture.restingHigh && !$0.isActive && $0.lastID == nil })
        #expect(!begun.projection.alerts.isBehind(Fixture.limits, before: Fixture.limits))
    }

    @Test func `a resting heart rate from before the newest heart rate is late to its alerts`() {
        let rest = Sample(
            metric: .restingHeartRate, start: Fixture.minute(-400), kind: .resting, reading: .value(55))
        let raised = projection().recording([Fixture.new(Fixture.heartRate(150, at: -10))], in: context())
        #expect(alerts(raised) == ["heart_rate_resting_high raised"])
        let after = raised.projection.recording([Fixture.new(rest)], in: context(.sync))
        #expect(alerts(after) == [])
        #expect(after.levels.isEmpty)
        var high = rest
        high.reading = .value(150)
        let calm = projection().recording([Fixture.new(Fixture.heartRate(70, at: -10))], in: context())
        #expect(
            alerts(calm.projection.recording([Fixture.new(high)], in: context(.sync))) == [
                "heart_rate_resting_high raised late"
            ])
        #expect(
            alerts(projection().recording([Fixture.new(high)], in: context(.sync))) == [
                "heart_rate_resting_high raised"
            ])
    }

    @Test func `only so many workouts are remembered`() {
        var current = projection()
        for index in 0..<100 {
            current =
                current.recording(
                    [Fixture.new(Fixture.workout(at: -10_000 + index * 60, lasting: 30))], in: context(.sync)
                ).projection
        }
        let first = current.recording([Fixture.new(Fixture.heartRate(150, at: -9_990))], in: context(.sync))
        #expect(!alerts(first).isEmpty)
        let last = current.recording([Fixture.new(Fixture.heartRate(150, at: -4_050))], in: context(.sync))
        #expect(alerts(last).isEmpty)
    }
}
