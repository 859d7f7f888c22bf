import Testing
import Vitals

@Suite struct MonitorSettingsTests {
    @Test func `begins with everything off, at the guide's times and limits`() throws {
        let settings = AbleDevice.settings
        #expect(
            try settings[.heartRate]
                == MonitorConfiguration(
                    of: .heartRate, schedule: MonitorSchedule(isEnabled: false, start: 480, end: 1440, interval: 10),
                    limits: [
                        .resting: AlertLimits(isEnabled: false, lower: 40, upper: 100),
                        .exercise: AlertLimits(isEnabled: false, lower: 60, upper: 180),
                    ], exerciseMaximum: 190))
        #expect(
            try settings[.bloodPressure]
                == MonitorConfiguration(
                    of: .bloodPressure,
                    schedule: MonitorSchedule(isEnabled: false, start: 360, end: 1320, interval: 15),
                    limits: [
                        .systolic: AlertLimits(isEnabled: false, lower: 90, upper: 140),
                        .diastolic: AlertLimits(isEnabled: false, lower: 60, upper: 90),
                    ]))
        #expect(
            try settings[.bloodOxygen]
                == MonitorConfiguration(
                    of: .bloodOxygen, schedule: MonitorSchedule(isEnabled: false, start: 0, end: 1440, interval: 30),
                    limits: [.value: AlertLimits(isEnabled: false, lower: 95, upper: 100)]))
        #expect(
            try settings[.stress]
                == MonitorConfiguration(
                    of: .stress, schedule: MonitorSchedule(isEnabled: false, start: 480, end: 1200, interval: 20),
                    limits: [.value: AlertLimits(isEnabled: false, lower: 0, upper: 70)]))
        #expect(
            try settings[.temperature]
                == MonitorConfiguration(
                    of: .temperature, schedule: MonitorSchedule(isEnabled: false, start: 0, end: 1440, interval: 60),
                    limits: [.value: AlertLimits(isEnabled: false, lower: 36, upper: 38)]))
        #expect(
            try settings[.bloodGlucose]
                == MonitorConfiguration(
                    of: .bloodGlucose, schedule: MonitorSchedule(isEnabled: false, start: 0, end: 1440, interval: 5),
                    limits: [
                        .value: AlertLimits(isEnabled: false, lower: 70, upper: 180),
                        .rate: AlertLimits(isEnabled: false, lower: -3, upper: 3),
                    ]))
        #expect(
            try settings[.skinTemperature]
                == MonitorConfiguration(
                    of: .skinTemperature,
                    schedule: MonitorSchedule(isEnabled: false, start: 0, end: 1440, interval: 60)))
        #expect(Set(settings.values.keys) == Set(MonitorSetting.all))
    }

    @Test func `begins with what the device offers, schedules and limits as wholes`() {
        #expect(MonitorSettings.defaults(for: Capabilities()) == MonitorSettings())
        #expect(MonitorSettings.defaults(for: Capabilities([.steps: .history])) == MonitorSettings())
        let resting = MonitorSettings.defaults(for: Capabilities([.restingHeartRate: .history]))
        #expect(resting.values.keys.map(\.path).allSatisfy { $0.hasPrefix("heart_rate.resting_alert.") })
        #expect(resting.values.count == 3)
        let bounded = MonitorSettings.defaults(for: Capabilities([.stress: .monitor]))
        #expect(bounded[.stress]?.schedule?.interval == 20)
        #expect(bounded[.stress]?.limits[.value] != nil)
        let measured = MonitorSettings.defaults(for: Capabilities([.heartRate: .measure]))
        #expect(measured[.heartRate]?.exerciseMaximum == 190)
        #expect(measured[.heartRate]?.limits[.resting] != nil)
        #expect(measured[.heartRate]?.limits[.exercise] == nil)
        #expect(measured.metrics == [.heartRate])
    }

    @Test func `shows a device's nonsense instead of stopping the program`() {
        var settings = AbleDevice.settings
        settings[.heartRate, .scheduleStart] = .number(.nan)
        settings[.heartRate, .scheduleEnd] = .number(.infinity)
        settings[.heartRate, .exerciseMaximum] = .number(-1e300)
        #expect(settings[.heartRate]?.schedule?.start == 0)
        #expect(settings[.heartRate]?.schedule?.end == 1_000_000_000)
        #expect(settings[.heartRate]?.exerciseMaximum == -1_000_000_000)
    }

    @Test(arguments: Metric.allCases)
    func `has no configuration with a part that its metric does not have`(metric: Metric) throws {
        let limits = AlertLimits(isEnabled: true, lower: 40, upper: 90)
        for subject in AlertRule.Subject.allCases where !metric.alertSubjects.contains(subject) {
            #expect(throws: Violations.self) { try MonitorConfiguration(of: metric, limits: [subject: limits]) }
        }
        if !metric.distinguishesExercise {
            #expect(throws: Violations.self) { try MonitorConfiguration(of: metric, exerciseMaximum: 190) }
        }
        guard metric.isMonitored else {
            #expect(throws: Violations.self) { try MonitorConfiguration(of: metric) }
            return
        }
        let known = try #require(AbleDevice.settings[metric])
        #expect(MonitorSettings(MonitorSettings([known]).values)[metric] == known)
    }

    @Test func `has both blood pressures, and one switch for both`() {
        let (on, off) = (
            AlertLimits(isEnabled: true, lower: 40, upper: 90), AlertLimits(isEnabled: false, lower: 40, upper: 90)
        )
        let wrong: [[AlertRule.Subject: AlertLimits]] = [
            [.systolic: on], [.diastolic: on], [.systolic: on, .diastolic: off],
        ]
        for limits in wrong {
            #expect(throws: Violations.self) { try MonitorConfiguration(of: .bloodPressure, limits: limits) }
        }
    }

    @Test func `takes in a leaf of a part that is not there yet, with the rest of the part as it begins`() {
        var settings = MonitorSettings()
        settings[.stress, .upper(.value)] = .number(60)
        #expect(settings[.stress]?.limits == [.value: AlertLimits(isEnabled: false, lower: 0, upper: 60)])
        #expect(settings[.stress]?.schedule == nil)
        settings[.stress, .lower(.value)] = nil
        #expect(settings[.stress] == nil)
    }
}
