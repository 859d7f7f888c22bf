import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Simulator

@Suite struct FaultTests {
    @Test func `breaks the link after a time`() throws {
        let driver = SimulatorDriver(options { $0.disconnectEvery = .seconds(90) })
        for _ in 0..<2 {
            try Setup.play(driver) { setup in
                try await setup.pass(.seconds(89))
                try await setup.session.ping()
                try await setup.pass(.seconds(2))
                let error = await #expect(throws: DeviceError.self) { try await setup.session.ping() }
                #expect(error?.code == .disconnected)
                #expect(setup.samples.last?.end ?? Setup.noon <= Setup.noon + .seconds(90))
            }
        }
    }

    @Test func `does not answer before the gateway gives up`() throws {
        try Setup.play(SimulatorDriver(options { $0.hang = 1 })) { setup in
            let error = try await withThrowingTaskGroup(of: DeviceError?.self) { group in
                group.addTask {
                    do throws(DeviceError) {
                        try await setup.session.ping()
                        return nil
                    } catch {
                        return error
                    }
                }
                try await setup.pass(.minutes(5))
                group.cancelAll()
                return try await group.next() ?? nil
            }
            #expect(error?.code == .timeout)
        }
    }

    @Test func `hangs as often as it was configured`() throws {
        let calendar = try #require(LocalCalendar(identifier: "UTC"))
        var device = DeviceState(SimulatorOptions(), seed: 1, calendar: calendar)
        let count = (0..<10_000).count { _ in device.strikes(0.2) }
        #expect((1_900...2_100).contains(count))
        #expect(!(0..<100).contains { _ in device.strikes(0) })
        #expect((0..<100).allSatisfy { _ in device.strikes(1) })
    }

    @Test func `refuses what is written`() throws {
        try Setup.play(SimulatorDriver(options { $0.refuseWrite = 1 })) { setup in
            let before = try await setup.session.monitorConfiguration(of: .heartRate)
            let limits = AlertLimits(isEnabled: false, lower: 45, upper: 99)
            for write in [
                { try await setup.session.setClock(Setup.noon, utcOffset: 0) },
                {
                    try await setup.session.setMonitorConfiguration(
                        MonitorConfiguration.fixture(of: .heartRate, limits: [.resting: limits]))
                },
            ] as [@Sendable () async throws -> Void] {
                let error = await #expect(throws: DeviceError.self) { try await write() }
                #expect(error?.code == .failure)
            }
            #expect(try await setup.session.monitorConfiguration(of: .heartRate) == before)
        }
    }

    @Test func `names a page as its own next one`() throws {
        try Setup.play(SimulatorDriver(options { $0.duplicatePage = 1 })) { setup in
            var request = HistoryRequest(
                metric: .heartRate, from: Setup.noon - .days(1), to: Setup.noon, limit: 10)
            let first = try await setup.session.history(request)
            let next = try #require(first.next)
            request.page = next
            for _ in 0..<3 { #expect(try await setup.session.history(request) == first) }
        }
    }

    @Test func `ends a history with a record of tomorrow`() throws {
        try Setup.play(SimulatorDriver(options { $0.futureRecords = 1 })) { setup in
            let history = try await setup.history(.heartRate, from: Setup.noon - .days(1), to: Setup.noon, limit: 50)
            #expect(history.last?.start == Setup.noon + .days(1))
            #expect(history.dropLast().allSatisfy { $0.end <= Setup.noon })
        }
    }

    @Test func `cannot read some records, and always the same`() throws {
        let whole = try Setup.play(SimulatorDriver(options { _ in })) { setup in
            try await setup.history(.heartRate, from: Setup.noon - .days(4), to: Setup.noon + .days(1))
        }
        let driver = SimulatorDriver(options { $0.corruptRecords = 0.3 })
        try Setup.play(driver) { setup in
            var (samples, malformed): ([Sample], Int) = ([], 0)
            var request = HistoryRequest(
                metric: .heartRate, from: Setup.noon - .days(4), to: Setup.noon + .days(1), limit: 100)
            repeat {
                let page = try await setup.session.history(request)
                #expect(page.samples.count + page.malformed <= 100)
                samples += page.samples
                malformed += page.malformed
                request.page = page.next
            } while request.page != nil
            #expect(samples.count + malformed == whole.count)
            #expect((whole.count / 5...whole.count * 2 / 5).contains(malformed))
            #expect(Set(samples).isSubset(of: whole))
            let again = try await setup.history(.heartRate, from: Setup.noon - .days(4), to: Setup.noon + .days(1))
            #expect(again == samples)
            try await setup.pass(.hours(2))
            let broken = setup.events.count { if case .malformed = $0 { true } else { false } }
            #expect(broken > 5)
        }
    }

    @Test func `has a battery that is nearly empty`() throws {
        try Setup.play(SimulatorDriver(options { $0.lowBattery = true })) { setup in
            try await setup.pass(.minutes(1))
            #expect(setup.events.contains(.battery(percent: 4, isCharging: false)))
            let error = await #expect(throws: DeviceError.self) {
                try await setup.session.startMeasurement(of: .heartRate, duration: .seconds(10))
            }
            #expect(error?.code == .lowBattery)
        }
    }

    @Test func `lies on a table from the first session on`() throws {
        try Setup.play(SimulatorDriver(options { $0.notWorn = true })) { setup in
            try await setup.pass(.hours(2))
            #expect(setup.samples.isEmpty)
            #expect(setup.events.contains(.wear(isWorn: false)))
            await #expect(throws: DeviceError.notWorn) {
                try await setup.session.startMeasurement(of: .heartRate, duration: .seconds(10))
            }
            let history = try await setup.history(.heartRate, from: Setup.noon - .hours(1), to: Setup.noon + .hours(2))
            #expect(history.count == 12)
        }
    }

    private func options(_ change: (inout Faults) -> Void) -> SimulatorOptions {
        var faults = Faults.none
        change(&faults)
        return SimulatorOptions(seed: 3, faults: faults)
    }
}
