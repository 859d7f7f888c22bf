import GatewayKit
import TestSupport
import Testing
import Vitals

@testable import Simulator

@Suite struct AlertTests {
    @Test func `raises an alert beyond a limit and clears it well within`() throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(seed: 3))) { setup in
            let limits = AlertLimits(isEnabled: true, lower: 20, upper: 78)
            try await setup.session.setMonitorConfiguration(
                MonitorConfiguration.fixture(of: .heartRate, limits: [.resting: limits]))
            try await setup.pass(.hours(2))
            let alerts = setup.alerts
            #expect(alerts.count > 1)
            for (alert, next) in zip(alerts, alerts.dropFirst()) { #expect(alert.edge != next.edge) }
            #expect(alerts.first?.edge == .raised)
            for alert in alerts {
                #expect(alert.rule.name == "heart_rate_resting_high")
                let value = try #require(alert.value)
                #expect(alert.edge == .raised ? value > 78 : value <= 74)
            }
            // Each alert has a value that the gateway has received.
            let values = Dictionary(setup.samples.map { ($0.end, $0.value) }) { first, _ in first }
            for alert in alerts { #expect(values[alert.at] == alert.value) }
        }
    }

    @Test func `clears what it raised when the limits are switched off`() throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(seed: 3))) { setup in
            let limits = AlertLimits(isEnabled: true, lower: 21, upper: 22)
            try await setup.session.setMonitorConfiguration(
                MonitorConfiguration.fixture(of: .heartRate, limits: [.resting: limits]))
            try await setup.pass(.minutes(10))
            #expect(setup.alerts.map(\.edge) == [.raised])
            let off = AlertLimits(isEnabled: false, lower: 21, upper: 22)
            try await setup.session.setMonitorConfiguration(
                MonitorConfiguration.fixture(of: .heartRate, limits: [.resting: off]))
            try await setup.pass(.minutes(10))
            #expect(setup.alerts.map(\.edge) == [.raised, .cleared])
            #expect(setup.alerts.last?.value == nil)
        }
    }

    @Test func `watches both pressures`() throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(seed: 3))) { setup in
            try await setup.session.setMonitorConfiguration(
                MonitorConfiguration.fixture(
                    of: .bloodPressure,
                    limits: [
                        .systolic: AlertLimits(isEnabled: true, lower: 20, upper: 30),
                        .diastolic: AlertLimits(isEnabled: true, lower: 280, upper: 290),
                    ]))
            try await setup.pass(.minutes(61))
            #expect(
                setup.alerts.map(\.rule.name) == ["blood_pressure_systolic_high", "blood_pressure_diastolic_low"])
        }
    }

    @Test func `distinguishes exercise from rest`() {
        var settings = MonitorSettings()
        settings.set(
            MonitorConfiguration.fixture(
                of: .heartRate,
                limits: [
                    .resting: AlertLimits(isEnabled: true, lower: 40, upper: 100),
                    .exercise: AlertLimits(isEnabled: true, lower: 60, upper: 150),
                ]))
        var watch = AlertWatch()
        func alerts(_ value: Double, isExercise: Bool?) -> [String] {
            let sample = Sample(
                metric: .heartRate, start: Setup.noon, isExercise: isExercise, reading: .value(value))
            return watch.check(sample, settings: settings).map { "\($0.rule.name) \($0.edge)" }
        }
        #expect(alerts(140, isExercise: true) == [])
        #expect(alerts(140, isExercise: nil) == ["heart_rate_resting_high raised"])
        #expect(alerts(151, isExercise: true) == ["heart_rate_exercise_high raised"])
        #expect(alerts(100, isExercise: false) == [])
        #expect(alerts(96, isExercise: false) == ["heart_rate_resting_high cleared"])
        #expect(alerts(150, isExercise: true) == [])
        #expect(alerts(146, isExercise: true) == ["heart_rate_exercise_high cleared"])
        #expect(alerts(59, isExercise: true) == ["heart_rate_exercise_low raised"])
    }

    @Test func `a ring raises none`() throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(model: .ring, seed: 3))) { setup in
            try await setup.pass(.hours(24))
            #expect(setup.alerts.isEmpty)
        }
    }
}
