import Testing
import Vitals

@Suite struct MonitorSettingsTests {
    @Test func `begins with everything off, at the guide's times and limits`() {
        let settings = AbleDevice.settings
        #expect(
            settings[.heartRate]
                == MonitorConfiguration(
                    schedule: MonitorSchedule(isEnabled: false, start: 480, end: 1440, interval: 10),
                    restingAlert: AlertLimits(isEnabled: false, lower: 40, upper: 100),
                    exerciseAlert: AlertLimits(isEnabled: false, lower: 60, upper: 180), exerciseMaximum: 190))
        #expect(
            settings[.bloodPressure]
                == MonitorConfiguration(
                    schedule: MonitorSchedule(isEnabled: false, start: 360, end: 1320, interval: 15),
                    pressureAlert: BloodPressureLimits(
                        isEnabled: false, systolicLower: 90, systolicUpper: 140, diastolicLower: 60,
                        diastolicUpper: 90)))
        #expect(
            settings[.bloodOxygen]
                == MonitorConfiguration(
                    schedule: MonitorSchedule(isEnabled: false, start: 0, end: 1440, interval: 30),
                    alert: AlertLimits(isEnabled: false, lower: 95, upper: 100)))
        #expect(
            settings[.stress]
                == MonitorConfiguration(
                    schedule: MonitorSchedule(isEnabled: false, start: 480, end: 1200, interval: 20),
                    alert: AlertLimits(isEnabled: false, lower: 0, upper: 70)))
        #expect(
            settings[.temperature]
                == MonitorConfiguration(
                    schedule: MonitorSchedule(isEnabled: false, start: 0, end: 1440, interval: 60),
                    alert: AlertLimits(isEnabled: false, lower: 36, upper: 38)))
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
        #expect(bounded[.stress]?.alert != nil)
        let measured = MonitorSettings.defaults(for: Capabilities([.heartRate: .measure]))
        #expect(measured[.heartRate]?.exerciseMaximum == nil)
        #expect(measured[.heartRate]?.exerciseAlert != nil)
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

    @Test func `tells differences in the order of their paths`() throws {
        var other = AbleDevice.settings
        other[.stress, .alertUpper] = .number(60)
        other[.bloodOxygen, .alertEnabled] = nil
        #expect(
            other.differences(from: AbleDevice.settings).map(\.path) == [
                "blood_oxygen.alert.enabled", "stress.alert.upper",
            ])
        #expect(AbleDevice.settings.differences(from: AbleDevice.settings) == [])
    }
}
