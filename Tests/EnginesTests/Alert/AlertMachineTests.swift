import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@Suite struct AlertMachineTests {
    /// Feeds heart rates to a machine, one per minute, and returns the edges by minute.
    private func edges(
        _ values: [Double], policy: AlertPolicy = AlertPolicy(cooldown: .zero), isExercise: Bool = false,
        isWorn: Bool = true
    ) -> [String] {
        var machine = AlertMachine(device: Fixture.device)
        return values.enumerated().flatMap { minute, value in
            machine.evaluate(
                Fixture.stored(Fixture.heartRate(value, at: minute)), isExercise: isExercise, isWorn: isWorn,
                settings: Fixture.limits, policy: policy, calendar: Fixture.utc
            ).map { "\(minute) \($0.event.rule.name) \($0.event.edge)" }
        }
    }

    @Test(arguments: [
        ([100.0, 100, 100], []),
        ([101, 90], []),
        ([101, 101], ["1 heart_rate_resting_high raised"]),
        ([101, 100, 101], []),
        ([101, 101, 101, 101], ["1 heart_rate_resting_high raised"]),
        ([101, 101, 96, 99], ["1 heart_rate_resting_high raised"]),
        ([101, 101, 95], ["1 heart_rate_resting_high raised", "2 heart_rate_resting_high cleared"]),
        ([49, 49, 54, 55], ["1 heart_rate_resting_low raised", "3 heart_rate_resting_low cleared"]),
        (
            [101, 101, 49, 49],
            [
                "1 heart_rate_resting_high raised", "2 heart_rate_resting_high cleared",
                "3 heart_rate_resting_low raised",
            ]
        ),
    ]) func `raises after two values beyond a limit, and clears five within it`(values: [Double], expected: [String]) {
        #expect(edges(values) == expected)
    }

    @Test func `exercise has limits of its own`() {
        #expect(edges([150, 150], isExercise: true) == [])
        #expect(edges([181, 181], isExercise: true) == ["1 heart_rate_exercise_high raised"])
    }

    @Test(arguments: [true, false])
    func `an alert of exercise ends with the exercise, and one of rest stays over it`(isExercise: Bool) {
        var machine = AlertMachine(device: Fixture.device)
        var edges: [String] = []
        // Values beyond the limits of one kind, and then of the other.
        for (minute, isExercise) in [isExercise, isExercise, !isExercise, !isExercise].enumerated() {
            edges += machine.evaluate(
                Fixture.stored(Fixture.heartRate(isExercise ? 190 : 49, at: minute)), isExercise: isExercise,
                isWorn: true, settings: Fixture.limits, policy: AlertPolicy(), calendar: Fixture.utc
            ).map { "\(minute) \($0.event.rule.name) \($0.event.edge)" }
        }
        #expect(
            edges
                == (isExercise
                    ? [
                        "1 heart_rate_exercise_high raised", "2 heart_rate_exercise_high cleared",
                        "3 heart_rate_resting_low raised",
                    ] : ["1 heart_rate_resting_low raised", "3 heart_rate_exercise_high raised"]))
    }

    @Test func `does not count values in between of the other kind`() {
        var machine = AlertMachine(device: Fixture.device)
        var raised: [String] = []
        for (minute, (value, isExercise)) in [(110.0, false), (150, true), (110, false)].enumerated() {
            raised += machine.evaluate(
                Fixture.stored(Fixture.heartRate(value, at: minute)), isExercise: isExercise, isWorn: true,
                settings: Fixture.limits, policy: AlertPolicy(), calendar: Fixture.utc
            ).map(\.event.rule.name)
        }
        #expect(raised == ["heart_rate_resting_high"])
    }

    @Test func `stays silent for the cool-down, and raises after it if the value is still beyond`() {
        let policy = AlertPolicy(cooldown: .minutes(10))
        let values: [Double] = [101, 101, 90, 101, 101, 101, 101, 101, 101, 101, 101, 101, 101]
        #expect(
            edges(values, policy: policy) == [
                "1 heart_rate_resting_high raised", "2 heart_rate_resting_high cleared",
                "11 heart_rate_resting_high raised",
            ])
    }

    @Test func `ignores values of a device that is not worn, unless asked to count them`() {
        #expect(edges([101, 101], isWorn: false) == [])
        let policy = AlertPolicy(cooldown: .zero, countsWhenNotWorn: true)
        #expect(edges([101, 101], policy: policy, isWorn: false) == ["1 heart_rate_resting_high raised"])
    }

    @Test func `one pressure is enough, and both pressures are checked`() {
        var machine = AlertMachine(device: Fixture.device)
        let sample = Sample(
            metric: .bloodPressure, start: Fixture.noon,
            reading: .bloodPressure(BloodPressure(systolic: 150, diastolic: 55)))
        let rules = machine.evaluate(
            Fixture.stored(sample), isExercise: false, isWorn: true, settings: Fixture.limits, policy: AlertPolicy(),
            calendar: Fixture.utc
        ).map(\.event.rule.name)
        #expect(rules == ["blood_pressure_systolic_high", "blood_pressure_diastolic_low"])
    }

    @Test(arguments: [(11 * 60, 13 * 60, true), (13 * 60, 11 * 60, false), (22 * 60, 12 * 60 + 2, true)])
    func `in quiet hours the level changes and the event is for the history`(from: Int, to: Int, isQuiet: Bool) {
        var machine = AlertMachine(device: Fixture.device)
        let policy = AlertPolicy(quietHours: [.init(from: from, to: to)])
        let outcomes = (0...1).flatMap { minute in
            machine.evaluate(
                Fixture.stored(Fixture.heartRate(120, at: minute)), isExercise: false, isWorn: true,
                settings: Fixture.limits, policy: policy, calendar: Fixture.utc)
        }
        #expect(outcomes.map(\.isLate) == [isQuiet])
        #expect(machine.levels.filter(\.isActive).map(\.rule) == [Fixture.restingHigh])
    }

    @Test func `quiet hours may be for some rules only`() {
        let hours = AlertPolicy.QuietHours(from: 0, to: 1440, rules: [Fixture.restingLow])
        let policy = AlertPolicy(count: [:], quietHours: [hours])
        var machine = AlertMachine(device: Fixture.device)
        let isLate = [40.0, 120].enumerated().flatMap { minute, value in
            machine.evaluate(
                Fixture.stored(Fixture.heartRate(value, at: minute)), isExercise: false, isWorn: true,
                settings: Fixture.limits, policy: policy, calendar: Fixture.utc)
        }.map { "\($0.event.rule.name) \($0.event.edge) \($0.isLate)" }
        #expect(
            isLate == [
                "heart_rate_resting_low raised true", "heart_rate_resting_high raised false",
                "heart_rate_resting_low cleared true",
            ])
    }

    @Test func `does not raise again what the device raised, nor clear twice`() {
        var machine = AlertMachine(device: Fixture.device)
        let policy = AlertPolicy()
        func device(_ edge: AlertEvent.Edge, _ minute: Int) -> AlertMachine.Outcome? {
            machine.evaluate(
                DeviceAlert(rule: Fixture.restingHigh, edge: edge, value: 120, at: Fixture.minute(minute)),
                policy: policy, calendar: Fixture.utc)
        }
        let raised = device(.raised, 0)
        #expect(raised?.event.origin == .device)
        #expect(raised?.event.limit == nil)
        #expect(raised?.event.sampleID == nil)
        #expect(device(.raised, 1) == nil)
        for minute in 2...4 {
            #expect(
                machine.evaluate(
                    Fixture.stored(Fixture.heartRate(120, at: minute)), isExercise: false, isWorn: true,
                    settings: Fixture.limits, policy: policy, calendar: Fixture.utc
                ).isEmpty)
        }
        let cleared = device(.cleared, 5)
        #expect(cleared?.event.raisedID == raised?.event.id)
        #expect(device(.cleared, 6) == nil)
    }

    @Test func `clears the alerts whose limits are switched off`() {
        let level = AlertLevel(rule: Fixture.restingHigh, isActive: true, since: Fixture.noon)
        var machine = AlertMachine(device: Fixture.device, levels: [Fixture.restingHigh: level])
        let same = machine.apply(
            Fixture.limits, before: Fixture.limits, at: Fixture.minute(1), policy: AlertPolicy(),
            calendar: Fixture.utc)
        #expect(same.isEmpty)
        let outcomes = machine.apply(
            MonitorSettings(), before: Fixture.limits, at: Fixture.minute(1), policy: AlertPolicy(),
            calendar: Fixture.utc)
        #expect(outcomes.map(\.event.edge) == [.cleared])
        #expect(machine.levels.map(\.isActive) == [false])
    }

    @Test func `counts anew after the device cleared, or the limits were switched off and on`() {
        var machine = AlertMachine(device: Fixture.device)
        let policy = AlertPolicy(cooldown: .zero)
        func raised(_ minute: Int) -> Int {
            machine.evaluate(
                Fixture.stored(Fixture.heartRate(120, at: minute)), isExercise: false, isWorn: true,
                settings: Fixture.limits, policy: policy, calendar: Fixture.utc
            ).count
        }
        #expect([0, 1].map(raised) == [0, 1])
        let alert = DeviceAlert(rule: Fixture.restingHigh, edge: .cleared, value: 90, at: Fixture.minute(2))
        #expect(machine.evaluate(alert, policy: policy, calendar: Fixture.utc) != nil)
        #expect([3, 4].map(raised) == [0, 1])
        func apply(_ settings: MonitorSettings, before: MonitorSettings) -> Int {
            machine.apply(settings, before: before, at: Fixture.minute(5), policy: policy, calendar: Fixture.utc).count
        }
        #expect(apply(MonitorSettings(), before: Fixture.limits) == 1)
        #expect([6, 7].map(raised) == [0, 1])
        // Also if the count had only begun, or a limit moved.
        #expect(apply(MonitorSettings(), before: Fixture.limits) == 1)
        #expect(raised(8) == 0)
        #expect(machine.isBehind(MonitorSettings(), before: Fixture.limits))
        #expect(apply(MonitorSettings(), before: Fixture.limits) == 0)
        #expect(raised(9) == 0)
        var moved = Fixture.limits
        moved[.heartRate, .upper(.resting)] = .number(110)
        #expect(machine.isBehind(moved, before: Fixture.limits))
        #expect(apply(moved, before: Fixture.limits) == 0)
        #expect([10, 11].map(raised) == [0, 1])
    }

    @Test func `what the device raised by a limit of its own stands until it clears it`() {
        let rule = AlertRule(.temperature, .high)
        var machine = AlertMachine(device: Fixture.device)
        func device(_ edge: AlertEvent.Edge, _ minute: Int) -> AlertMachine.Outcome? {
            machine.evaluate(
                DeviceAlert(rule: rule, edge: edge, value: 39, at: Fixture.minute(minute)), policy: AlertPolicy(),
                calendar: Fixture.utc)
        }
        let raised = device(.raised, 0)
        #expect(raised?.event.edge == .raised)
        #expect(!machine.isBehind(MonitorSettings(), before: MonitorSettings()))
        let applied = machine.apply(
            MonitorSettings(), before: MonitorSettings(), at: Fixture.minute(1), policy: AlertPolicy(),
            calendar: Fixture.utc)
        #expect(applied.isEmpty)
        #expect(device(.cleared, 2)?.event.raisedID == raised?.event.id)
    }

    @Test func `goes on from the levels of before a restart`() {
        let level = AlertLevel(rule: Fixture.restingHigh, isActive: true, since: Fixture.noon)
        var machine = AlertMachine(device: Fixture.device, levels: [Fixture.restingHigh: level])
        let outcomes = [120.0, 120, 80].enumerated().flatMap { minute, value in
            machine.evaluate(
                Fixture.stored(Fixture.heartRate(value, at: minute)), isExercise: false, isWorn: true,
                settings: Fixture.limits, policy: AlertPolicy(), calendar: Fixture.utc)
        }
        #expect(outcomes.map(\.event.edge) == [.cleared])
    }

    @Test func `whoever was first has seen an active edge, and nobody the next one`() {
        var machine = AlertMachine(device: Fixture.device)
        func evaluate(_ values: [Double], from minute: Int) -> [AlertMachine.Outcome] {
            values.enumerated().flatMap { index, value in
                var sample = Fixture.heartRate(value, at: minute + index)
                sample.user = 2
                return machine.evaluate(
                    Fixture.stored(sample), isExercise: false, isWorn: true, settings: Fixture.limits,
                    policy: AlertPolicy(cooldown: .zero), calendar: Fixture.utc)
            }
        }
        let raised = evaluate([120, 120], from: 0)
        #expect(raised.map(\.level.user) == [2] && machine.levels == raised.map(\.level))
        let ids = raised.map(\.event.id)
        let first = ids.compactMap { machine.acknowledge($0, by: "anna", at: Fixture.minute(2)) }
        #expect(first.map(\.acknowledgement) == [Acknowledgement(by: "anna", at: Fixture.minute(2))])
        #expect(first.map(\.lastID) == ids && machine.levels == first)
        let second = ids.compactMap { machine.acknowledge($0, by: "ben", at: Fixture.minute(3)) }
        #expect(second == first)
        let stranger = machine.acknowledge(SampleID(high: 8, low: 8), by: "ben", at: Fixture.minute(3))
        #expect(stranger == nil)
        // A value that changes nothing leaves it, and the end takes it.
        #expect(evaluate([130], from: 4).isEmpty && machine.levels == first)
        let cleared = evaluate([80], from: 5)
        #expect(cleared.map(\.level.acknowledgement) == [nil])
        for id in ids + cleared.map(\.event.id) {
            let late = machine.acknowledge(id, by: "ben", at: Fixture.minute(6))
            #expect(late == nil)
        }
        let again = evaluate([120, 120], from: 7)
        #expect(again.map(\.event.edge) == [.raised] && machine.levels.map(\.acknowledgement) == [nil])
        let old = ids.compactMap { machine.acknowledge($0, by: "ben", at: Fixture.minute(9)) }
        #expect(old.isEmpty)
    }

    @Test func `late data that goes back in time is another run`() {
        var machine = AlertMachine(device: Fixture.device, isLate: true)
        let outcomes = [(100, 120.0), (101, 120), (10, 80), (11, 120), (12, 120)].flatMap { minute, value in
            machine.evaluate(
                Fixture.stored(Fixture.heartRate(value, at: minute)), isExercise: false, isWorn: true,
                settings: Fixture.limits, policy: AlertPolicy(cooldown: .zero), calendar: Fixture.utc)
        }
        #expect(
            outcomes.map { "\($0.event.edge) \($0.event.measuredAt == Fixture.minute(12))" } == [
                "raised false", "raised true",
            ])
        #expect(outcomes.allSatisfy { $0.isLate })
    }

    @Test(arguments: 0..<200) func `from any values come edges in turns, cool-downs apart`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let policy = AlertPolicy(cooldown: .minutes(Int.random(in: 0...20, using: &random)))
        var machine = AlertMachine(device: Fixture.device)
        var last: [AlertRule: AlertEvent] = [:]
        var raised: [AlertRule: Timestamp] = [:]
        var ids: Set<SampleID> = []
        for minute in 0..<300 {
            let value = Double.random(in: 30...200, using: &random)
            let outcomes = machine.evaluate(
                Fixture.stored(Fixture.heartRate(value, at: minute)), isExercise: Bool.random(using: &random),
                isWorn: Int.random(in: 0..<10, using: &random) > 0, settings: Fixture.limits, policy: policy,
                calendar: Fixture.utc)
            for outcome in outcomes {
                let event = outcome.event
                #expect(ids.insert(event.id).inserted)
                #expect(last[event.rule]?.edge != event.edge)
                #expect(last[event.rule] != nil || event.edge == .raised)
                #expect(outcome.level.isActive == (event.edge == .raised))
                if event.edge == .raised {
                    if let before = raised[event.rule] { #expect(event.measuredAt - before >= policy.cooldown) }
                    raised[event.rule] = event.measuredAt
                } else {
                    #expect(event.raisedID == last[event.rule]?.id)
                    #expect(event.raisedAt == raised[event.rule])
                }
                last[event.rule] = event
            }
        }
        #expect(!ids.isEmpty)
    }
}
