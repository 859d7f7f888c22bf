import Testing
import Vitals

@Suite struct AlertRuleTests {
    private static let start = Timestamp(milliseconds: 1_795_000_000_000)

    @Test func `has the names of the contract`() {
        #expect(
            AlertRule.all.map(\.name) == [
                "heart_rate_resting_high", "heart_rate_resting_low", "heart_rate_exercise_high",
                "heart_rate_exercise_low", "blood_pressure_systolic_high", "blood_pressure_systolic_low",
                "blood_pressure_diastolic_high", "blood_pressure_diastolic_low", "blood_oxygen_high",
                "blood_oxygen_low", "stress_high", "stress_low", "temperature_high", "temperature_low",
                "respiratory_rate_high", "respiratory_rate_low", "blood_glucose_high", "blood_glucose_low",
                "blood_glucose_rate_high", "blood_glucose_rate_low",
            ])
        for rule in AlertRule.all { #expect(AlertRule(name: rule.name) == rule) }
        for name in [
            "", "heart_rate_high", "skin_temperature_high", "weight_high", "steps_high", "stress", "stress_HIGH",
            "alert_cleared",
        ] {
            #expect(AlertRule(name: name) == nil)
        }
    }

    @Test func `of what a device warns by itself has a name, and neither a limit nor a value here`() {
        #expect(
            AlertRule.warnings.map(\.name) == [
                "heart_rate_warning_high", "heart_rate_warning_low", "heart_rhythm_irregular",
                "ecg_atrial_fibrillation", "ecg_high_heart_rate", "ecg_low_heart_rate", "ecg_inconclusive",
            ])
        let able = Capabilities([.heartRate: .warnings])
        let beat = Sample(metric: .heartRate, start: Self.start, reading: .value(200))
        for rule in AlertRule.warnings {
            #expect(AlertRule(name: rule.name) == rule && !AlertRule.all.contains(rule))
            #expect(rule.limit(in: AbleDevice.settings) == nil && rule.value(in: beat, isExercise: false) == nil)
            #expect(rule.isOffered(by: able) && !rule.isOffered(by: Capabilities([.heartRate: []])))
            #expect(rule.metric.unit == "bpm")
        }
        #expect(AlertRule.all.allSatisfy { $0.warning == nil })
    }

    @Test(arguments: AlertRule.all)
    func `has its limit only while its alert is on`(rule: AlertRule) {
        var settings = AbleDevice.settings
        #expect(rule.limit(in: settings) == nil)
        for setting in MonitorSetting.all where setting.field.kind == .toggle {
            settings[setting.metric, setting.field] = .toggle(true)
        }
        let limits = [
            "heart_rate_resting_high": 100.0, "heart_rate_resting_low": 40, "heart_rate_exercise_high": 180,
            "heart_rate_exercise_low": 60, "blood_pressure_systolic_high": 140, "blood_pressure_systolic_low": 90,
            "blood_pressure_diastolic_high": 90, "blood_pressure_diastolic_low": 60, "blood_oxygen_high": 100,
            "blood_oxygen_low": 95, "stress_high": 70, "stress_low": 0, "temperature_high": 38, "temperature_low": 36,
            "respiratory_rate_high": 24, "respiratory_rate_low": 9, "blood_glucose_high": 180, "blood_glucose_low": 70,
            "blood_glucose_rate_high": 3, "blood_glucose_rate_low": -3,
        ]
        #expect(limits[rule.name] != nil)
        #expect(rule.limit(in: settings) == limits[rule.name])
        for setting in MonitorSetting.all where setting.field.kind == .limit {
            settings[setting.metric, setting.field] = nil
        }
        #expect(rule.limit(in: settings) == nil)
        #expect(rule.limit(in: MonitorSettings()) == nil)
    }

    struct Watch: Sendable, CustomTestStringConvertible {
        var metric: Metric
        var reading: Reading
        var kind = Sample.Kind.normal
        var isExercise = false
        /// The values that the rules on the high side check.
        var seen: [String: Double]
        var testDescription: String { "\(metric.rawValue) \(kind) \(isExercise)" }
    }

    @Test(arguments: [
        Watch(metric: .heartRate, reading: .value(70), seen: ["heart_rate_resting_high": 70]),
        Watch(metric: .heartRate, reading: .value(170), isExercise: true, seen: ["heart_rate_exercise_high": 170]),
        Watch(
            metric: .heartRate, reading: .value(50), kind: .resting, isExercise: true,
            seen: ["heart_rate_resting_high": 50]),
        Watch(metric: .heartRate, reading: .value(180), kind: .maximum, seen: ["heart_rate_resting_high": 180]),
        Watch(metric: .restingHeartRate, reading: .value(51), seen: ["heart_rate_resting_high": 51]),
        Watch(metric: .restingHeartRate, reading: .value(51), isExercise: true, seen: ["heart_rate_resting_high": 51]),
        Watch(
            metric: .bloodPressure, reading: .bloodPressure(BloodPressure(systolic: 120, diastolic: 80, pulse: 60)),
            seen: ["blood_pressure_systolic_high": 120, "blood_pressure_diastolic_high": 80]),
        Watch(metric: .bloodOxygen, reading: .value(97), seen: ["blood_oxygen_high": 97]),
        Watch(metric: .stress, reading: .value(30), isExercise: true, seen: ["stress_high": 30]),
        Watch(metric: .temperature, reading: .value(36.6), seen: ["temperature_high": 36.6]),
        Watch(metric: .respiratoryRate, reading: .value(14.5), seen: ["respiratory_rate_high": 14.5]),
        Watch(metric: .bloodGlucose, reading: .value(99), seen: ["blood_glucose_high": 99]),
        Watch(metric: .skinTemperature, reading: .value(41), seen: [:]),
        Watch(metric: .heartRateVariability, reading: .value(41), seen: [:]),
        Watch(metric: .weight, reading: .value(70), seen: [:]),
        Watch(metric: .battery, reading: .value(5), seen: [:]),
        Watch(metric: .steps, reading: .count(Increment(count: 70)), seen: [:]),
        Watch(metric: .sport, reading: .sport(Sport(activity: "x", maximumHeartRate: 190)), seen: [:]),
        Watch(metric: .stress, reading: .count(Increment(count: 70)), seen: [:]),
    ])
    func `sees its value of a sample`(_ watch: Watch) {
        let sample = Sample(metric: watch.metric, start: Self.start, kind: watch.kind, reading: watch.reading)
        var seen: [String: Double] = [:]
        for rule in AlertRule.all {
            let value = rule.value(in: sample, isExercise: watch.isExercise)
            if rule.side == .high { seen[rule.name] = value }
            let twin = AlertRule(rule.metric, rule.subject, rule.side == .high ? .low : .high)
            #expect(twin.value(in: sample, isExercise: watch.isExercise) == value)
            if value != nil { #expect(AlertRule.watching(watch.metric).contains(rule)) }
        }
        #expect(seen == watch.seen)
    }

    @Test func `is listed for the metrics whose samples it may see`() {
        #expect(
            AlertRule.watching(.restingHeartRate).map(\.name) == ["heart_rate_resting_high", "heart_rate_resting_low"])
        #expect(AlertRule.watching(.heartRate).count == 4)
        #expect(AlertRule.watching(.bloodPressure).count == 4)
        #expect(AlertRule.watching(.stress).count == 2)
        #expect(AlertRule.watching(.steps) == [])
    }

    @Test func `is beyond its limit only past it`() {
        let high = AlertRule(.heartRate, .resting, .high)
        let low = AlertRule(.heartRate, .resting, .low)
        #expect(!high.isBeyond(100, 100) && high.isBeyond(100.1, 100) && !high.isBeyond(99, 100))
        #expect(!low.isBeyond(40, 40) && low.isBeyond(39.9, 40) && !low.isBeyond(41, 40))
    }

    @Test func `is over only well within its limit`() {
        let high = AlertRule(.heartRate, .resting, .high)
        let low = AlertRule(.heartRate, .resting, .low)
        #expect(high.isBack(95, 100, hysteresis: 5) && !high.isBack(95.1, 100, hysteresis: 5))
        #expect(low.isBack(45, 40, hysteresis: 5) && !low.isBack(44.9, 40, hysteresis: 5))
        #expect(high.isBack(100, 100, hysteresis: 0) && !high.isBack(100.1, 100, hysteresis: 0))
    }

    @Test(arguments: AlertRule.all)
    func `can be over at any limit, and is never over while it is beyond`(rule: AlertRule) throws {
        let range = try #require(rule.range)
        let ends = [range.lowerBound, range.upperBound]
        for limit in ends + [(range.lowerBound + range.upperBound) / 2] {
            #expect(ends.contains { rule.isBack($0, limit, hysteresis: 5) })
            for value in ends + [limit, limit - 0.1, limit + 0.1] where rule.isBeyond(value, limit) {
                #expect(!rule.isBack(value, limit, hysteresis: 5))
            }
        }
        let oxygen = AlertRule(.bloodOxygen, .low)
        #expect(oxygen.isBack(100, 100, hysteresis: 1))
    }
}
