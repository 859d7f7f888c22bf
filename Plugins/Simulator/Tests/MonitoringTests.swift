import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Simulator

@Suite struct MonitoringTests {
    @Test func `follows a schedule from the moment it was pushed`() throws {
        let options = SimulatorOptions(seed: 3, liveInterval: nil)
        try Setup.play(SimulatorDriver(options)) { setup in
            let before = try await setup.history(.bloodOxygen, from: Setup.noon - .days(1), to: Setup.noon)
            let schedule = MonitorSchedule(isEnabled: true, start: 780, end: 900, interval: 15)
            try await setup.session.setMonitorConfiguration(
                MonitorConfiguration.fixture(of: .bloodOxygen, schedule: schedule))
            #expect(try await setup.session.monitorConfiguration(of: .bloodOxygen).schedule == schedule)
            try await setup.pass(.hours(24))
            // 13:00 to 15:00 in Berlin, every quarter of an hour.
            let expected = (0..<8).map { Setup.noon + .minutes(60 + $0 * 15) }
            #expect(setup.samples.filter { $0.metric == .bloodOxygen }.map(\.start) == expected)
            let after = try await setup.history(.bloodOxygen, from: Setup.noon - .days(1), to: Setup.noon + .days(1))
            // The value at 12:00 was taken before the change.
            #expect(after.filter { $0.start < Setup.noon } == before)
            #expect(after.filter { $0.start > Setup.noon }.map(\.start) == expected)
        }
    }

    @Test(arguments: Model.allCases)
    func `says that it raises alerts of exactly those metrics whose limits it has`(model: Model) {
        let limited = Set(AlertRule.all.filter { $0.limit(in: model.factorySettings) != nil }.map(\.metric))
        #expect(Set(model.capabilities(historyDays: 4).metrics(with: .alert)) == limited)
        #expect(limited.isEmpty == (model != .band && model != .glucose))
    }

    @Test func `takes nothing while monitoring is off`() throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(seed: 3, liveInterval: nil))) { setup in
            let off = MonitorSchedule(isEnabled: false, start: 0, end: 1440, interval: 5)
            try await setup.session.setMonitorConfiguration(MonitorConfiguration.fixture(of: .heartRate, schedule: off))
            try await setup.pass(.hours(6))
            #expect(!setup.samples.contains { $0.metric == .heartRate })
            #expect(setup.samples.contains { $0.metric == .stress })
        }
    }

    @Test func `keeps parts that a push leaves out`() throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(seed: 3))) { setup in
            let before = try await setup.session.monitorConfiguration(of: .heartRate)
            let limits = AlertLimits(isEnabled: false, lower: 45, upper: 99)
            let wanted = MonitorConfiguration.fixture(of: .heartRate, limits: [.resting: limits], exerciseMaximum: 177)
            try await setup.session.setMonitorConfiguration(wanted)
            let expected = before.replacingParts(with: wanted)
            #expect(expected.limits[.resting] == limits && expected.limits[.exercise] == before.limits[.exercise])
            #expect(try await setup.session.monitorConfiguration(of: .heartRate) == expected)
        }
    }

    @Test func `a ring takes the interval and skips what it has not`() throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(model: .ring, seed: 3))) { setup in
            let wanted = MonitorConfiguration.fixture(
                of: .heartRate, schedule: MonitorSchedule(isEnabled: true, start: 480, end: 600, interval: 20),
                limits: [.resting: AlertLimits(isEnabled: true, lower: 40, upper: 100)])
            try await setup.session.setMonitorConfiguration(wanted)
            let expected = MonitorConfiguration.fixture(
                of: .heartRate, schedule: MonitorSchedule(isEnabled: true, start: 0, end: 1440, interval: 20),
                exerciseMaximum: 185)
            #expect(try await setup.session.monitorConfiguration(of: .heartRate) == expected)
        }
    }

    @Test(arguments: [
        MonitorSchedule(isEnabled: true, start: 0, end: 1440, interval: 7),
        MonitorSchedule(isEnabled: true, start: 0, end: 1440, interval: 0),
        MonitorSchedule(isEnabled: true, start: 600, end: 600, interval: 5),
        MonitorSchedule(isEnabled: true, start: -5, end: 600, interval: 5),
        MonitorSchedule(isEnabled: true, start: 0, end: 1441, interval: 5),
    ])
    func `refuses a schedule that makes no sense`(schedule: MonitorSchedule) throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(seed: 3))) { setup in
            let before = try await setup.session.monitorConfiguration(of: .heartRate)
            let error = await #expect(throws: DeviceError.self) {
                try await setup.session.setMonitorConfiguration(
                    MonitorConfiguration.fixture(of: .heartRate, schedule: schedule))
            }
            #expect(error?.code == .invalid)
            #expect(try await setup.session.monitorConfiguration(of: .heartRate) == before)
        }
    }

    @Test(arguments: [Model.cuff, .oximeter])
    func `a model without monitoring says so`(model: Model) throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(model: model))) { setup in
            for metric in Metric.monitored {
                let error = DeviceError.unsupported("monitoring of \(metric.rawValue)")
                await #expect(throws: error) { try await setup.session.monitorConfiguration(of: metric) }
                await #expect(throws: error) {
                    try await setup.session.setMonitorConfiguration(MonitorConfiguration.fixture(of: metric))
                }
            }
        }
    }

    @Test func `remembers so many changes, and forgets those that a clock turned back made void`() {
        func schedule(_ interval: Int) -> MonitorSchedule {
            MonitorSchedule(isEnabled: true, start: 0, end: 1440, interval: interval)
        }
        var log = ScheduleLog(schedule(5))
        for place in 1...ScheduleLog.capacity {
            log.change(to: schedule(place * 5 + 5), at: Timestamp(seconds: Int64(place)))
        }
        // The oldest change is gone; the next one counts as valid for all earlier times.
        #expect(log.schedule(at: Timestamp(seconds: 0)) == schedule(10))
        #expect(log.schedule(at: Timestamp(seconds: 2)) == schedule(10))
        #expect(log.schedule(at: Timestamp(milliseconds: 2_001)) == schedule(15))
        log.change(to: schedule(1000), at: Timestamp(seconds: 2))
        #expect(log.schedule(at: Timestamp(seconds: 2)) == schedule(10))
        #expect(log.schedule(at: Timestamp(seconds: 100)) == schedule(1000))
        log.change(to: schedule(1000), at: Timestamp(seconds: 50))
        #expect(log.schedule(at: Timestamp(seconds: 100)) == schedule(1000))
    }
}
