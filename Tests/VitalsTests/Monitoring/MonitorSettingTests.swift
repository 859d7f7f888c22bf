import Testing
import Vitals

@Suite struct MonitorSettingTests {
    @Test func `is found by its path`() {
        for setting in MonitorSetting.all {
            #expect(MonitorSetting(path: setting.path) == setting)
            #expect(setting.exists)
        }
        #expect(MonitorSetting.all.count == 11 + 9 + 5 * 7 + 3 + 2 * 4)
        #expect(Set(MonitorSetting.all).count == MonitorSetting.all.count)
        #expect(
            MonitorSetting(path: "heart_rate.resting_alert.upper") == MonitorSetting(.heartRate, .upper(.resting)))
    }

    @Test(arguments: [
        "", "heart_rate", "heart_rate.alert.upper", "stress.resting_alert.upper", "blood_pressure.alert.upper",
        "steps.schedule.enabled", "skin_temperature.alert.upper", "heart_rate_variability.alert.upper",
        "weight.schedule.enabled", "resting_heart_rate.alert.lower", "heart_rate.resting_alert.upper.",
        "exercise_max_bpm",
    ])
    func `is not found at a path that no metric has`(path: String) {
        #expect(MonitorSetting(path: path) == nil)
    }

    @Test(
        arguments: [
            ("heart_rate.resting_alert.upper", 20...300, 1, "bpm"),
            ("heart_rate.exercise_alert.lower", 20...300, 1, "bpm"),
            ("heart_rate.exercise_max_bpm", 100...220, 1, "bpm"),
            ("heart_rate.schedule.interval_min", 5...1440, 5, "min"),
            ("stress.schedule.start", 0...1440, 1, "min"), ("stress.schedule.end", 0...1440, 1, "min"),
            ("blood_pressure.alert.systolic_upper", 20...300, 1, "mmHg"),
            ("blood_pressure.alert.diastolic_lower", 20...300, 1, "mmHg"),
            ("blood_oxygen.alert.lower", 0...100, 1, "%"),
            ("stress.alert.upper", 0...100, 1, nil), ("temperature.alert.upper", 25...45, 0.1, "°C"),
            ("respiratory_rate.alert.upper", 3...100, 0.1, "breaths/min"),
            ("blood_glucose.alert.lower", 10...1000, 1, "mg/dL"), ("skin_temperature.schedule.end", 0...1440, 1, "min"),
        ] as [(String, ClosedRange<Double>, Double, String?)])
    func `has a range, a step and a unit`(path: String, bounds: ClosedRange<Double>, step: Double, unit: String?) throws
    {
        #expect(try setting(path).range == MonitorSetting.Range(bounds, step: step, unit: unit))
    }

    @Test func `has no range where it is on or off`() {
        for setting in MonitorSetting.all { #expect((setting.range == nil) == (setting.field.kind == .toggle)) }
        #expect(MonitorSetting(.stress, .exerciseMaximum).range == nil)
    }

    @Test func `knows tenths in spite of binary fractions`() {
        let range = MonitorSetting.Range(25...45, step: 0.1, unit: "°C")
        for tenths in 250...450 { #expect(range.contains(Double(tenths) / 10)) }
        for wrong in [36.65, 36.61, 24.9, 45.1, .nan, .infinity] { #expect(!range.contains(wrong)) }
    }

    struct Offer: Sendable, CustomTestStringConvertible {
        var abilities: [Metric: Abilities]
        /// The candidate paths that are offered.
        var offered: [String]
        var testDescription: String { "\(abilities.mapValues(\.rawValue))" }
    }

    private static let candidates = [
        "heart_rate.schedule.enabled", "heart_rate.schedule.start", "heart_rate.schedule.end",
        "heart_rate.schedule.interval_min", "heart_rate.resting_alert.upper", "heart_rate.exercise_alert.enabled",
        "heart_rate.exercise_max_bpm", "blood_oxygen.schedule.enabled", "blood_oxygen.schedule.interval_min",
        "blood_oxygen.alert.lower",
    ]

    @Test(arguments: [
        Offer(abilities: [:], offered: []),
        Offer(abilities: [.steps: .history], offered: []),
        Offer(abilities: [.restingHeartRate: .history], offered: ["heart_rate.resting_alert.upper"]),
        Offer(
            abilities: [.heartRate: .history],
            offered: ["heart_rate.resting_alert.upper", "heart_rate.exercise_max_bpm"]),
        Offer(
            abilities: [.heartRate: .measure],
            offered: [
                "heart_rate.schedule.enabled", "heart_rate.schedule.start", "heart_rate.schedule.end",
                "heart_rate.schedule.interval_min", "heart_rate.resting_alert.upper", "heart_rate.exercise_max_bpm",
            ]),
        Offer(
            abilities: [.heartRate: [.monitor, .measure]],
            offered: [
                "heart_rate.schedule.enabled", "heart_rate.resting_alert.upper", "heart_rate.exercise_max_bpm",
            ]),
        Offer(
            abilities: [.heartRate: [.monitor, .scheduleTime]],
            offered: [
                "heart_rate.schedule.enabled", "heart_rate.schedule.start", "heart_rate.schedule.end",
                "heart_rate.resting_alert.upper", "heart_rate.exercise_max_bpm",
            ]),
        Offer(
            abilities: [.bloodOxygen: [.monitor, .scheduleInterval, .alert]],
            offered: [
                "blood_oxygen.schedule.enabled", "blood_oxygen.schedule.interval_min", "blood_oxygen.alert.lower",
            ]),
        Offer(
            abilities: [.heartRate: [], .bloodOxygen: []],
            offered: [
                "heart_rate.resting_alert.upper", "heart_rate.exercise_max_bpm", "blood_oxygen.alert.lower",
            ]),
        Offer(
            abilities: [.heartRate: .exercise],
            offered: [
                "heart_rate.resting_alert.upper", "heart_rate.exercise_alert.enabled", "heart_rate.exercise_max_bpm",
            ]),
        Offer(
            abilities: [.heartRate: .history, .sport: .history],
            offered: [
                "heart_rate.resting_alert.upper", "heart_rate.exercise_alert.enabled", "heart_rate.exercise_max_bpm",
            ]),
        Offer(
            abilities: [.heartRate: .measure, .sport: .history],
            offered: [
                "heart_rate.schedule.enabled", "heart_rate.schedule.start", "heart_rate.schedule.end",
                "heart_rate.schedule.interval_min", "heart_rate.resting_alert.upper", "heart_rate.exercise_max_bpm",
            ]),
        Offer(
            abilities: [.heartRate: .exerciseAlert],
            offered: [
                "heart_rate.resting_alert.upper", "heart_rate.exercise_alert.enabled", "heart_rate.exercise_max_bpm",
            ]),
    ])
    func `is offered where the device, or the gateway in its place, can do it`(_ offer: Offer) throws {
        let capabilities = Capabilities(offer.abilities)
        let offered = try Self.candidates.filter { try setting($0).isOffered(by: capabilities) }
        #expect(offered == offer.offered)
    }

    @Test func `is never offered where its metric has no such setting`() {
        let capabilities = Capabilities([.stress: [.monitor, .measure, .exerciseAlert], .steps: .monitor])
        #expect(!MonitorSetting(.stress, .exerciseMaximum).isOffered(by: capabilities))
        #expect(!MonitorSetting(.steps, .scheduleEnabled).isOffered(by: capabilities))
    }
}
