import Engines
import TestSupport
import Testing
import Vitals

/// Alerts of values that rise or fall fast, in mg/dL a minute.
@Suite struct RateOfChangeTests {
    private static let settings = MonitorSettings.fixture(limits: [.bloodGlucose: [.value: 70...180, .rate: -3...2]])

    /// The edges of glucose values, each at a minute: `minute rule edge value`.
    private static func edges(_ values: [(minute: Int, value: Double)], isLate: Bool = false) -> [String] {
        var machine = AlertMachine(device: Fixture.device, isLate: isLate)
        return values.flatMap { minute, value in
            machine.evaluate(
                Fixture.stored(Fixture.sample(.bloodGlucose, value, at: minute)), isExercise: false, isWorn: true,
                settings: settings, policy: AlertPolicy(cooldown: .zero), calendar: Fixture.utc
            ).filter { $0.event.rule.subject == .rate }.map {
                let value = $0.event.value.map { " \($0)" } ?? ""
                return "\(minute) \($0.event.rule.name) \($0.event.edge)\(value)"
            }
        }
    }

    @Test func `five minutes with more than the limit raise an alert, and half a unit within it clears it`() {
        #expect(
            Self.edges([(0, 100), (5, 110), (10, 121), (15, 129), (20, 136)]) == [
                "10 blood_glucose_rate_high raised 2.2", "20 blood_glucose_rate_high cleared 1.4",
            ])
        #expect(
            Self.edges([(0, 150), (5, 135), (10, 119), (15, 106), (20, 94)]) == [
                "10 blood_glucose_rate_low raised -3.2", "20 blood_glucose_rate_low cleared -2.4",
            ])
    }

    @Test func `values of each minute are compared over four, so that their noise raises none`() {
        #expect(Self.edges((0...30).map { ($0, $0.isMultiple(of: 2) ? 100 : 107) }) == [])
        #expect(Self.edges((0...4).map { ($0, 100 + 3 * Double($0)) }) == ["4 blood_glucose_rate_high raised 3.0"])
    }

    @Test func `a value after a gap of more than 15 minutes has no rate, and ends the alert`() {
        #expect(Self.edges([(0, 100), (16, 160)]) == [])
        #expect(Self.edges([(0, 100), (15, 145)]) == ["15 blood_glucose_rate_high raised 3.0"])
        #expect(
            Self.edges([(0, 100), (5, 120), (25, 180)]) == [
                "5 blood_glucose_rate_high raised 4.0", "25 blood_glucose_rate_high cleared",
            ])
    }

    @Test func `late values that go back in time begin anew`() {
        #expect(Self.edges([(10, 100), (5, 150), (9, 170)], isLate: true) == ["9 blood_glucose_rate_high raised 5.0"])
    }

    @Test func `a value of another kind is no earlier value`() {
        var rate = RateOfChange()
        var pricked = Fixture.sample(.bloodGlucose, 100, at: 0)
        pricked.kind = .maximum
        #expect(rate.add(pricked) == nil)
        #expect(rate.add(Fixture.sample(.bloodGlucose, 150, at: 5)) == nil)
        #expect(rate.add(Fixture.sample(.bloodGlucose, 151, at: 10)) == 0.2)
    }

    @Test func `more values than are kept change nothing but how far back they go`() {
        var rate = RateOfChange()
        // Three in each minute: the oldest of twenty is six minutes old.
        for third in 0..<100 {
            var sample = Fixture.sample(.bloodGlucose, Double(100 + third), at: 0)
            sample.start = sample.start + .seconds(20 * third)
            sample.end = sample.start
            let found = rate.add(sample)
            #expect(found == (third < 12 ? nil : 3))
        }
    }

    @Test func `it is in the metric's unit per minute, and its limits are tenths`() {
        #expect(AlertRule(.bloodGlucose, .rate, .high).unit == "mg/dL/min")
        let range = MonitorSetting(.bloodGlucose, .upper(.rate)).range
        #expect(range == MonitorSetting.Range(-20...20, step: 0.1, unit: "mg/dL/min"))
        #expect(MonitorSetting(path: "blood_glucose.rate_alert.lower")?.field == .lower(.rate))
    }
}
