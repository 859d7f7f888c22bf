import Engines
import GatewayKit
import TestSupport
import Testing
import Vitals

/// Every rule, through the whole life of an alert.
@Suite struct AlertRuleTableTests {
    /// Limits of every metric, with a margin on both sides.
    private static let settings = MonitorSettings.fixture(limits: [
        .heartRate: [.resting: 50...100, .exercise: 80...170],
        .bloodPressure: [.systolic: 95...140, .diastolic: 60...90], .bloodOxygen: [.value: 90...97],
        .stress: [.value: 20...70], .temperature: [.value: 35.5...37.8], .respiratoryRate: [.value: 9...24],
        .bloodGlucose: [.value: 70...180, .rate: -3...3],
    ])

    /// The rules of single values; `RateOfChangeTests` has the others.
    private static let ofValues = AlertRule.all.filter { $0.subject != .rate }

    /// The metrics with a schedule alone.
    private static let withoutLimits: [Metric] = [.heartRateVariability, .skinTemperature]

    /// A sample whose value is `distance` beyond the rule's limit; negative is within it.
    private static func sample(_ rule: AlertRule, beyond distance: Double, at minute: Int) throws -> Sample {
        let limit = try #require(rule.limit(in: settings))
        let value = rule.side == .high ? limit + distance : limit - distance
        var sample = Fixture.sample(rule.metric, value, at: minute)
        switch rule.subject {
        case .exercise: sample.isExercise = true
        case .systolic: sample.reading = .bloodPressure(BloodPressure(systolic: value, diastolic: 75))
        case .diastolic: sample.reading = .bloodPressure(BloodPressure(systolic: 120, diastolic: value))
        case .resting, .value, .rate: break
        }
        return sample
    }

    /// The events of a device's projection for values, one per minute, each at a distance beyond the rule's limit. An
    /// event reads `minute edge`, with `late` if it is only for the history.
    private static func events(
        _ rule: AlertRule, _ distances: [Double], policy: AlertPolicy = AlertPolicy(), isWorn: Bool = true,
        after newest: Int? = nil
    ) throws -> (events: [AlertEvent], texts: [String], projection: SampleProjection) {
        var projection = SampleProjection(device: Fixture.device, today: RunningDay(day: LocalDay(number: 0)))
        if let newest {
            let sample = try sample(rule, beyond: -Self.far(rule), at: newest)
            projection = projection.recording([Fixture.new(sample)], in: context(policy, minute: newest)).projection
        }
        var events: [AlertEvent] = []
        var texts: [String] = []
        for (minute, distance) in distances.enumerated() {
            let decision = projection.recording(
                [Fixture.new(try sample(rule, beyond: distance, at: minute))],
                in: context(policy, minute: max(minute, newest ?? 0), isWorn: isWorn))
            for case .alert(let event, let isLate) in decision.facts.map(\.content) {
                #expect(event.rule == rule)
                #expect(decision.levels.map(\.isActive) == (isLate ? [] : [event.edge == .raised]))
                events.append(event)
                texts.append("\(minute) \(event.edge)\(isLate ? " late" : "")")
            }
            projection = decision.projection
        }
        return (events, texts, projection)
    }

    private static func context(_ policy: AlertPolicy, minute: Int, isWorn: Bool = true) -> IngestContext {
        IngestContext(
            source: .live, now: Fixture.minute(minute), freshness: [:], settings: settings, policy: policy,
            isWorn: isWorn, calendar: Fixture.utc)
    }

    /// Well within the limits, by more than the hysteresis.
    private static func far(_ rule: AlertRule) -> Double { hysteresis(rule) + step(rule) }
    private static func hysteresis(_ rule: AlertRule) -> Double { AlertPolicy.defaultHysteresis[rule.metric] ?? 0 }
    private static func count(_ rule: AlertRule) -> Int { AlertPolicy.defaultCount[rule.metric] ?? 0 }
    /// The smallest difference that devices can measure in this metric.
    private static func step(_ rule: AlertRule) -> Double { rule.metric.decimals > 0 ? 0.1 : 1 }

    @Test func `there are twenty, each with a limit`() {
        #expect(AlertRule.all.count == 20)
        #expect(AlertRule.all.allSatisfy { $0.limit(in: Self.settings) != nil })
        #expect(Set(AlertRule.all.map(\.metric)) == Set(Metric.monitored).subtracting(Self.withoutLimits))
    }

    @Test(arguments: ofValues)
    func `is raised by values beyond its limit, and cleared by one that is back by the hysteresis`(
        rule: AlertRule
    ) throws {
        let step = Self.step(rule)
        // A value at the limit is not beyond it; a value just within it does not clear the alert.
        let within = (Self.hysteresis(rule) - step) * (rule.metric.decimals > 0 ? 0.9 : 1)
        let values = [0, 0] + [Double](repeating: step, count: Self.count(rule) + 1) + [-within, -Self.far(rule), 0]
        let (events, texts, _) = try Self.events(rule, values)
        let raised = 2 + Self.count(rule) - 1
        #expect(texts == ["\(raised) raised", "\(raised + 3) cleared"])
        let limit = try #require(rule.limit(in: Self.settings))
        #expect(events.allSatisfy { $0.limit == limit && $0.origin == .gateway && $0.sampleID != nil })
        #expect(rule.isBeyond(try #require(events.first?.value), limit))
        #expect(events.last?.raisedID == events.first?.id)
        #expect(events.last?.raisedAt == Fixture.minute(raised))
    }

    @Test(arguments: ofValues) func `needs as many values in a row as configured`(rule: AlertRule) throws {
        let step = Self.step(rule)
        let policy = AlertPolicy(count: [rule.metric: 3])
        #expect(try Self.events(rule, [step, step, 0, step, step, 0], policy: policy).texts == [])
        #expect(try Self.events(rule, [step, step, step], policy: policy).texts == ["2 raised"])
    }

    @Test(arguments: ofValues)
    func `is not raised again within the cool-down, not after a restart either`(rule: AlertRule) throws {
        let (step, far) = (Self.step(rule), -Self.far(rule))
        let policy = AlertPolicy(count: [:], cooldown: .minutes(6))
        let values = [step, far, step, step, step, step, step]
        #expect(try Self.events(rule, values, policy: policy).texts == ["0 raised", "1 cleared", "6 raised"])

        let before = try Self.events(rule, [step, far], policy: policy).projection
        let levels = Dictionary(uniqueKeysWithValues: before.alerts.levels.map { ($0.rule, $0) })
        var restarted = AlertMachine(device: Fixture.device, levels: levels)
        let again = try (2...6).flatMap { minute in
            restarted.evaluate(
                Fixture.stored(try Self.sample(rule, beyond: step, at: minute)), isExercise: rule.subject == .exercise,
                isWorn: true, settings: Self.settings, policy: policy, calendar: Fixture.utc)
        }
        #expect(again.map(\.event.measuredAt) == [Fixture.minute(6)])
    }

    @Test(arguments: ofValues) func `does not count while the device is not worn, unless asked to`(
        rule: AlertRule
    ) throws {
        let values = [Double](repeating: Self.step(rule), count: 3)
        #expect(try Self.events(rule, values, isWorn: false).texts == [])
        let policy = AlertPolicy(countsWhenNotWorn: true)
        #expect(try Self.events(rule, values, policy: policy, isWorn: false).texts.count == 1)
    }

    @Test(arguments: ofValues) func `is only for the history in its quiet hours, and its level changes`(
        rule: AlertRule
    ) throws {
        // Starts at the fixture's noon, in UTC, and applies only to this rule.
        let hours = AlertPolicy.QuietHours(from: 12 * 60, to: 12 * 60 + 30, rules: [rule])
        let policy = AlertPolicy(count: [:], quietHours: [hours])
        var machine = AlertMachine(device: Fixture.device)
        let outcomes = machine.evaluate(
            Fixture.stored(try Self.sample(rule, beyond: Self.step(rule), at: 29)),
            isExercise: rule.subject == .exercise, isWorn: true, settings: Self.settings, policy: policy,
            calendar: Fixture.utc)
        #expect(outcomes.map(\.isLate) == [true])
        #expect(machine.levels.filter(\.isActive).map(\.rule) == [rule])
        let over = machine.evaluate(
            Fixture.stored(try Self.sample(rule, beyond: -Self.far(rule), at: 30)),
            isExercise: rule.subject == .exercise, isWorn: true, settings: Self.settings, policy: policy,
            calendar: Fixture.utc)
        #expect(over.map(\.isLate) == [false])
    }

    @Test(arguments: ofValues) func `from late data it is for the history, and no level`(rule: AlertRule) throws {
        let (step, far) = (Self.step(rule), -Self.far(rule))
        let values = [step, step, far]
        let raised = Self.count(rule) - 1
        let (events, texts, projection) = try Self.events(rule, values, after: 100)
        #expect(texts == ["\(raised) raised late", "2 cleared late"])
        #expect(events.last?.raisedID == events.first?.id)
        #expect(projection.alerts.levels.allSatisfy { !$0.isActive })
    }

    @Test(arguments: ofValues)
    func `the device and the gateway raise it once, and clear it once, whoever is first`(rule: AlertRule) throws {
        let (step, far) = (Self.step(rule), -Self.far(rule))
        func device(_ edge: AlertEvent.Edge, _ minute: Int, _ projection: inout SampleProjection) -> [String] {
            let alert = DeviceAlert(rule: rule, edge: edge, value: nil, at: Fixture.minute(minute))
            let decision = projection.recording(alert, in: Self.context(AlertPolicy(), minute: minute))
            projection = decision.projection
            return decision.facts.map(\.content).map { content in
                if case .alert(let event, isLate: false) = content { "\(event.edge) by \(event.origin)" } else { "" }
            }
        }
        func host(_ distance: Double, _ minute: Int, _ projection: inout SampleProjection) throws -> [String] {
            let decision = projection.recording(
                [Fixture.new(try Self.sample(rule, beyond: distance, at: minute))],
                in: Self.context(AlertPolicy(count: [:], cooldown: .zero), minute: minute))
            projection = decision.projection
            return decision.facts.map(\.content).compactMap { content in
                if case .alert(let event, isLate: false) = content { "\(event.edge) by \(event.origin)" } else { nil }
            }
        }
        var projection = SampleProjection(device: Fixture.device, today: RunningDay(day: LocalDay(number: 0)))
        #expect(device(.raised, 0, &projection) == ["raised by device"])
        #expect(try host(step, 1, &projection) == [])
        #expect(try host(far, 2, &projection) == ["cleared by gateway"])
        #expect(device(.cleared, 3, &projection) == [])
        #expect(try host(step, 4, &projection) == ["raised by gateway"])
        #expect(device(.raised, 5, &projection) == [])
        #expect(device(.cleared, 6, &projection) == ["cleared by device"])
        #expect(try host(far, 7, &projection) == [])
    }

    @Test(arguments: ofValues) func `is cleared when its limits are switched off`(rule: AlertRule) throws {
        let values = [Double](repeating: Self.step(rule), count: 2)
        let projection = try Self.events(rule, values).projection
        let decision = projection.recording(
            limitsOf: MonitorSettings(), before: Fixture.limits, in: Self.context(AlertPolicy(), minute: 3))
        #expect(decision.levels.map { "\($0.rule.name) \($0.isActive)" } == ["\(rule.name) false"])
        #expect(decision.facts.count == 1)
    }
}
