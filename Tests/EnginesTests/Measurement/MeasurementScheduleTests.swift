import Engines
import TestSupport
import Testing
import Vitals

@Suite struct MeasurementScheduleTests {
    private let capabilities = Capabilities([.heartRate: [.measure], .stress: [.measure, .monitor]])

    private func settings(_ start: Int, _ end: Int, _ interval: Int, isEnabled: Bool = true) -> MonitorSettings {
        var settings = MonitorSettings()
        let schedule = MonitorSchedule(isEnabled: isEnabled, start: start, end: end, interval: interval)
        settings.set(MonitorConfiguration.fixture(of: .heartRate, schedule: schedule))
        settings.set(MonitorConfiguration.fixture(of: .stress, schedule: schedule))
        return settings
    }

    /// The minutes after `begin` at which a measurement is due, checked every five seconds.
    private func minutes(
        of settings: MonitorSettings, from begin: Timestamp, lasting length: Duration,
        calendar: LocalCalendar = Fixture.utc
    ) -> [Int] {
        var schedule = MeasurementSchedule()
        var result: [Int] = []
        var passed = Duration.zero
        while passed < length {
            let due = schedule.due(settings, capabilities: capabilities, calendar: calendar, at: begin + passed)
            #expect(due.allSatisfy { $0 == .heartRate }, "the device monitors stress by itself")
            if !due.isEmpty { result.append(Int(passed.inMilliseconds / 60_000)) }
            passed += .seconds(5)
        }
        return result
    }

    private let midnight = Timestamp(seconds: 1_795_219_200)

    @Test(arguments: [
        (0, 1440, 60, Array(stride(from: 0, to: 1440, by: 60))),
        (480, 600, 30, [480, 510, 540, 570]),
        (1410, 1440, 10, [1410, 1420, 1430]),
        (480, 495, 30, [480]),
        (0, 1440, 1440, [0]),
    ]) func `measures once a slot, within its times`(start: Int, end: Int, interval: Int, expected: [Int]) {
        #expect(minutes(of: settings(start, end, interval), from: midnight, lasting: .days(1)) == expected)
    }

    @Test func `does nothing where it is switched off, or the interval makes no sense`() {
        #expect(minutes(of: settings(0, 1440, 60, isEnabled: false), from: midnight, lasting: .days(1)) == [])
        #expect(minutes(of: settings(0, 1440, 0), from: midnight, lasting: .hours(2)) == [])
    }

    @Test func `a slot that has begun before is not made up for`() {
        let begin = midnight + .minutes(15)
        #expect(minutes(of: settings(0, 1440, 60), from: begin, lasting: .hours(2)) == [45, 105])
    }

    @Test func `goes over midnight`() {
        let begin = midnight + .minutes(1430)
        #expect(minutes(of: settings(0, 1440, 60), from: begin, lasting: .hours(2)) == [10, 70])
    }

    @Test func `the hour that comes twice is measured twice, and the one that is skipped is not`() {
        // 2026-10-25 00:00 and 2026-03-29 00:00 in Berlin.
        let autumn = Timestamp(seconds: 1_792_879_200)
        let spring = Timestamp(seconds: 1_774_738_800)
        let all = settings(0, 1440, 60)
        #expect(
            minutes(of: all, from: autumn, lasting: .hours(25), calendar: Fixture.berlin)
                == Array(stride(from: 0, to: 1500, by: 60)))
        #expect(
            minutes(of: all, from: spring, lasting: .hours(23), calendar: Fixture.berlin)
                == Array(stride(from: 0, to: 1380, by: 60)))
    }
}
