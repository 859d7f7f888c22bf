import Foundation
import GatewayKit
import GatewayTesting
import Logging
import TestSupport
import Testing
import Vitals

@Suite struct ScriptedSessionTests {
    private static let start = Timestamp(seconds: 1_767_225_600)
    private static let description = DeviceDescription(
        identity: DeviceIdentity(model: "Script"),
        capabilities: Capabilities([.heartRate: [.measure, .monitor, .history]]))
    private static let records = (0..<25).map { index in
        Sample(metric: .heartRate, start: start + .minutes(index), reading: .value(60 + Double(index)))
    }

    @Test func `pages through its history, and forgets what is acknowledged`() async throws {
        let content = ScriptedSession.Content(
            history: [.heartRate: Self.records.reversed()], pageLimit: 10, forgetsAcknowledged: true)
        let session = ScriptedSession(Self.description, content: content)
        var request = HistoryRequest(metric: .heartRate, from: Self.start + .minutes(1), to: Self.start + .hours(1))
        var read: [Sample] = []
        repeat {
            let page = try await session.history(request)
            #expect(page.samples.count <= 10)
            read += page.samples
            request.page = page.next
        } while request.page != nil
        #expect(read == Array(Self.records.dropFirst()))
        try await session.acknowledgeHistory(of: .heartRate, through: Self.records[20].start)
        #expect(session.content.history[.heartRate]?.count == 4)
        #expect(session.calls.count == 4)
        #expect(session.calls.last == .acknowledgeHistory(.heartRate, through: Self.records[20].start))
        await #expect(throws: DeviceError.self) {
            try await session.history(HistoryRequest(metric: .stress, from: Self.start, to: Self.start + .hours(1)))
        }
    }

    @Test func `takes over the parts of a configuration that are set`() async throws {
        let session = ScriptedSession(Self.description)
        let schedule = MonitorSchedule(isEnabled: true, start: 0, end: 1440, interval: 5)
        try await session.setMonitorConfiguration(MonitorConfiguration.fixture(of: .heartRate, schedule: schedule))
        try await session.setMonitorConfiguration(MonitorConfiguration.fixture(of: .heartRate, exerciseMaximum: 180))
        #expect(
            try await session.monitorConfiguration(of: .heartRate)
                == MonitorConfiguration.fixture(of: .heartRate, schedule: schedule, exerciseMaximum: 180))
    }

    @Test func `plays a measurement on its clock`() throws {
        try Simulation.run(seed: 1, deadline: .hours(1)) { environment in
            try await Self.measure(in: environment, stopAfter: nil) { session, id, events in
                #expect(
                    events.map(\.at) == [.seconds(1), .seconds(4), .seconds(10)])
                #expect(events.last?.event == .measurementEnded(id, completed: true, error: nil))
            }
        }
    }

    @Test func `a stopped measurement says no more than its end, and the next one starts`() throws {
        try Simulation.run(seed: 2, deadline: .hours(1)) { environment in
            try await Self.measure(in: environment, stopAfter: .seconds(2)) { session, id, events in
                #expect(events.map(\.at) == [.seconds(1), .seconds(2)])
                #expect(events.last?.event == .measurementEnded(id, completed: false, error: nil))
                let next = try await session.startMeasurement(of: .heartRate, duration: .seconds(1))
                #expect(next != id)
                #expect(try await session.nextEvents() == [.measurementEnded(next, completed: true, error: nil)])
            }
        }
    }

    @Test func `fails, takes its time and hangs as it is asked to`() throws {
        try Simulation.run(seed: 3, deadline: .hours(1)) { environment in
            let session = ScriptedSession(Self.description, clock: environment.gatewayClock)
            session.behave { call in
                switch call {
                case .ping: .fail(DeviceError(.timeout, "No answer."))
                case .setClock: .delay(.seconds(7))
                case .monitorConfiguration: .hang
                default: .answer
                }
            }
            await #expect(throws: DeviceError(.timeout, "No answer.")) { try await session.ping() }
            try await session.setClock(environment.date, utcOffset: 60)
            #expect(environment.uptime == .seconds(7))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await session.monitorConfiguration(of: .heartRate) }
                try await environment.clock.sleep(for: .seconds(60))
                group.cancelAll()
                await #expect(throws: DeviceError.self) { try await group.next() }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await session.monitorConfiguration(of: .heartRate) }
                try await environment.clock.sleep(for: .seconds(60))
                session.disconnect(DeviceError(.disconnected, "Gone."))
                await #expect(throws: DeviceError(.disconnected, "Gone.")) { try await group.next() }
            }
            await #expect(throws: DeviceError(.disconnected, "Gone.")) { try await session.nextEvents() }
        }
    }

    @Test func `delivers what was sent before a graceful disconnect`() async throws {
        let session = ScriptedSession(Self.description)
        await session.send(.battery(percent: 50, isCharging: nil), .wear(isWorn: true))
        session.finish()
        #expect(try await session.nextEvents() == [.battery(percent: 50, isCharging: nil), .wear(isWorn: true)])
        #expect(try await session.nextEvents() == nil)
    }

    /// Runs a measurement of 10 s with readings after 1 s and 4 s, and passes on its events with their times.
    private static func measure(
        in environment: Simulation, stopAfter: Duration?,
        _ check:
            @escaping @Sendable (ScriptedSession, MeasurementID, [(at: Duration, event: DeviceEvent)]) async throws ->
            Void
    ) async throws {
        let measurement = ScriptedSession.Measurement(
            readings: [(.seconds(1), .value(61)), (.seconds(4), .value(64))])
        let driver = ScriptedDriver { context in
            ScriptedSession(
                description, content: .init(measurements: [.heartRate: measurement]), clock: context.clock)
        }
        guard let device = DeviceID("band-1"), let zone = TimeZone(identifier: "UTC") else { return }
        let context = SessionContext(
            device: device, gateway: ("test", "1"), calendar: LocalCalendar(timeZone: zone),
            clock: environment.gatewayClock, logger: LogRecorder().logger)
        try await driver.withSession(over: .none, context: context) { session in
            guard let session = session as? ScriptedSession else { return }
            let id = try await session.startMeasurement(of: .heartRate, duration: .seconds(10))
            await #expect { try await session.startMeasurement(of: .heartRate, duration: .seconds(1)) } throws: {
                ($0 as? DeviceError)?.code == .busy
            }
            try await withThrowingTaskGroup { group in
                if let stopAfter {
                    group.addTask {
                        try await environment.clock.sleep(for: stopAfter)
                        try await session.stopMeasurement(id)
                    }
                }
                var events: [(at: Duration, event: DeviceEvent)] = []
                while !events.contains(where: { if case .measurementEnded = $0.event { true } else { false } }) {
                    for event in try await session.nextEvents() ?? [] { events.append((environment.uptime, event)) }
                }
                try await group.waitForAll()
                try await check(session, id, events)
            }
        }
    }
}
