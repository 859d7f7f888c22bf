import GatewayKit
import GatewayTesting
import Synchronization
import TestSupport
import Testing
import Vitals

@testable import ColmiRing

@Suite struct SessionTests {
    static let start = Timestamp(seconds: 1_773_144_000)

    /// Opens a session with a ring in a simulation.
    private func withRing(
        _ faults: Set<ScriptedRing.Fault> = [], hasMessages: Bool = true,
        _ body: @escaping @Sendable (any DeviceSession, ScriptedRing, Simulation) async throws -> Void
    ) throws {
        try Simulation.run(seed: 1, start: Self.start, deadline: .hours(5)) { simulation in
            let clock = simulation.gatewayClock
            let ring = ScriptedRing(
                clock: clock, worn: Self.start - .hours(10), faults: faults, hasMessages: hasMessages)
            let context = SessionContext.testing(try #require(DeviceID("ring")), clock: clock)
            try await ColmiDriver(ColmiOptions()).withPages(ring, context) { session in
                try await body(session, ring, simulation)
            }
        }
    }

    private static func request(_ metric: Metric) -> HistoryRequest {
        HistoryRequest(metric: metric, from: start - .hours(10), to: start)
    }

    @Test func `a session sets the clock, reads the charge, and finds out what the ring can do`() throws {
        try withRing { session, ring, _ in
            let description = session.description
            #expect(description.identity == DeviceIdentity(firmware: "R02_3.00.06_240523", hardware: "R02_V3.0"))
            #expect(description.clock == nil)
            #expect(
                description.capabilities
                    == Capabilities(
                        [
                            .heartRate: [.history, .measure, .monitor, .scheduleInterval],
                            .bloodOxygen: [.history, .measure, .monitor], .stress: [.history, .monitor],
                            .steps: .history, .sleep: .history, .skinTemperature: [.history, .monitor], .battery: [],
                        ], maximumHistoryDays: 6))
            #expect(ring.commands.prefix(2) == [0x01, 0x03])
            #expect(ring.withState { $0.clocks } == [Self.start])
            let events = try await session.nextEvents()
            #expect(events == [.battery(percent: 64, isCharging: false)])
        }
    }

    @Test func `a ring without a setting has no monitoring, and one without the second service no sleep`() throws {
        try withRing([.refuses(0x36), .silent(0x3a)], hasMessages: false) { session, _, _ in
            let capabilities = session.description.capabilities
            #expect(capabilities.metrics[.stress] == .history)
            #expect(capabilities.metrics[.skinTemperature] == nil)
            #expect(capabilities.metrics[.sleep] == nil)
            #expect(capabilities.metrics[.bloodOxygen] == [.measure, .monitor])
        }
    }

    @Test func `a ring that does not answer to its clock is no session`() throws {
        #expect { try withRing([.silent(0x01)]) { _, _, _ in Issue.record("the session opened") } } throws: {
            ($0 as? DeviceError)?.code == .timeout
        }
    }

    @Test func `a clock whose first answer is lost is set again to the time that it is then`() throws {
        try withRing([.lostClockAnswer]) { _, ring, simulation in
            #expect(ring.withState { $0.clocks } == [Self.start, Self.start + RingRequestQueue.timeout])
            #expect(ring.withState { $0.offset } == 0)
        }
    }

    @Test func `a clock that waits behind a measurement is set to the time of its turn`() throws {
        try withRing([.silent(0x69)]) { session, ring, simulation in
            async let measurement = try? session.startMeasurement(of: .heartRate, duration: .seconds(5))
            // Until the ring was asked to measure.
            while !ring.commands.contains(0x69) { try await simulation.gatewayClock.sleep(for: .seconds(1)) }
            try await session.setClock(simulation.date + .days(1), utcOffset: 60)
            #expect(simulation.uptime >= RingMeasurement.startTimeout)
            #expect(ring.withState { $0.offset } == 86_400)
            let accepted = await measurement
            #expect(accepted == nil)
        }
    }

    /// Parts come in another order, twice, with notices between them; one is lost or damaged once.
    @Test(
        arguments: [[.disorder], [.lostPart], [.damagedPart], [.notices], [.disorder, .lostPart, .notices]]
            as [Set<ScriptedRing.Fault>])
    func `a log is whole, whatever happens to its parts`(faults: Set<ScriptedRing.Fault>) throws {
        let whole = Mutex<[Metric: [Sample]]>([:])
        try withRing { session, _, _ in
            for metric in [Metric.heartRate, .stress, .steps] {
                let samples = try await session.history(Self.request(metric)).samples
                whole.withLock { $0[metric] = samples }
                #expect(samples.count >= 9)
            }
        }
        for metric in [Metric.heartRate, .stress, .steps] {
            try withRing(faults) { session, _, _ in
                let page = try await session.history(Self.request(metric))
                #expect(page.samples == whole.withLock { $0[metric] })
                #expect(page.malformed == 0)
            }
        }
    }

    @Test(arguments: [Metric.heartRate, .stress, .steps])
    func `a log whose part is lost each time fails, and the session goes on`(metric: Metric) throws {
        try withRing([.alwaysLostPart]) { session, _, _ in
            await #expect { try await session.history(Self.request(metric)) } throws: {
                ($0 as? DeviceError)?.code == .failure
            }
            try await session.ping()
        }
    }

    @Test(arguments: [
        (UInt8(0x15), Metric.heartRate), (0x37, .stress), (0x43, .steps), (0x2a, .bloodOxygen), (0x27, .sleep),
    ])
    func `a request that is never answered ends after ten seconds`(command: UInt8, metric: Metric) throws {
        try withRing([.silent(command)]) { session, _, simulation in
            let before = simulation.uptime
            await #expect { try await session.history(Self.request(metric)) } throws: {
                ($0 as? DeviceError)?.code == .timeout
            }
            #expect(simulation.uptime - before == .seconds(10))
        }
    }

    @Test func `settings are read, written and read back`() throws {
        try withRing { session, ring, _ in
            func schedule(_ isEnabled: Bool, _ interval: Int) -> MonitorSchedule {
                MonitorSchedule(isEnabled: isEnabled, start: 0, end: 1440, interval: interval)
            }
            #expect(try await session.monitorConfiguration(of: .heartRate).schedule == schedule(true, 30))
            #expect(try await session.monitorConfiguration(of: .stress).schedule == schedule(false, 30))
            try await session.setMonitorConfiguration(
                MonitorConfiguration(of: .heartRate, schedule: schedule(false, 60)))
            #expect(ring.peripheral.writes.last?.bytes.prefix(4) == [0x16, 2, 2, 60])
            #expect(try await session.monitorConfiguration(of: .heartRate).schedule == schedule(false, 60))
            for (metric, isOn) in [(Metric.stress, true), (.bloodOxygen, false), (.skinTemperature, false)] {
                let interval = metric == .bloodOxygen ? 60 : 30
                try await session.setMonitorConfiguration(
                    MonitorConfiguration(of: metric, schedule: schedule(isOn, interval)))
                #expect(try await session.monitorConfiguration(of: metric).schedule == schedule(isOn, interval))
            }
            #expect(ring.peripheral.writes.contains { $0.bytes.prefix(4) == [0x3a, 3, 2, 0] })
            for wrong in [
                MonitorSchedule(isEnabled: true, start: 60, end: 1440, interval: 30), schedule(true, 65),
                schedule(true, 0), schedule(true, 12),
            ] {
                for metric in [Metric.heartRate, .stress] {
                    await #expect {
                        try await session.setMonitorConfiguration(MonitorConfiguration(of: metric, schedule: wrong))
                    } throws: { ($0 as? DeviceError)?.code == .invalid }
                }
            }
        }
    }

    /// The events of a measurement until its end.
    private func events(of session: any DeviceSession) async throws -> (samples: [Sample], events: [DeviceEvent]) {
        var (samples, all): ([Sample], [DeviceEvent]) = ([], [])
        while let events = try await session.nextEvents() {
            all += events
            for case .measurementSample(_, let sample) in events { samples.append(sample) }
            if events.contains(where: { if case .measurementEnded = $0 { true } else { false } }) { break }
        }
        return (samples, all)
    }

    @Test func `a measurement has values and an end, and the ring is stopped`() throws {
        for (metric, value) in [(Metric.heartRate, 78.0), (.bloodOxygen, 97)] {
            try withRing { session, ring, simulation in
                let before = simulation.uptime
                let id = try await session.startMeasurement(of: metric, duration: .seconds(30))
                let (samples, events) = try await self.events(of: session)
                #expect(samples.allSatisfy { $0.value == value && $0.metric == metric && $0.isUserInitiated })
                #expect(samples.count >= 3)
                #expect(events.last == .measurementEnded(id, completed: true, error: nil))
                #expect(simulation.uptime - before == .seconds(30))
                #expect(ring.commands.last == 0x6a)
            }
        }
    }

    @Test func `a ring that becomes silent after some values is asked to go on`() throws {
        try withRing { session, ring, _ in
            _ = try await session.startMeasurement(of: .heartRate, duration: .seconds(25))
            _ = try await self.events(of: session)
            let starts = ring.peripheral.writes.map(\.bytes).filter { $0.first == 0x69 }.map { $0[2] }
            #expect(starts == [1, 3])
        }
    }

    @Test func `a measurement that is stopped ends at once, also for a ring that does not answer`() throws {
        for faults in [[], [.silent(0x6a)]] as [Set<ScriptedRing.Fault>] {
            try withRing(faults) { session, _, simulation in
                let id = try await session.startMeasurement(of: .heartRate, duration: .minutes(5))
                await #expect { try await session.startMeasurement(of: .bloodOxygen, duration: .seconds(5)) } throws: {
                    ($0 as? DeviceError)?.code == .busy
                }
                let before = simulation.uptime
                try await session.stopMeasurement(id)
                #expect(simulation.uptime - before <= .seconds(5))
                let (_, events) = try await self.events(of: session)
                #expect(events.last == .measurementEnded(id, completed: false, error: nil))
                // The next one begins.
                _ = try await session.startMeasurement(of: .heartRate, duration: .seconds(5))
            }
        }
    }

    @Test func `a ring that is not worn says so, and one with a weak signal goes on`() throws {
        try withRing([.notWorn]) { session, ring, _ in
            await #expect { try await session.startMeasurement(of: .heartRate, duration: .seconds(5)) } throws: {
                ($0 as? DeviceError)?.code == .notWorn
            }
            #expect(ring.commands.last == 0x6a)
        }
        try withRing([.weakSignal]) { session, _, _ in
            let id = try await session.startMeasurement(of: .heartRate, duration: .seconds(5))
            let (samples, events) = try await self.events(of: session)
            #expect(samples.isEmpty)
            guard case .measurementEnded(id, completed: false, error: let error?)? = events.last else {
                Issue.record("\(events)")
                return
            }
            #expect(error.code == .failure)
        }
    }

    @Test func `a device without the ring's service is another driver's`() throws {
        try Simulation.run(seed: 1, deadline: .hours(1)) { simulation in
            let other = ScriptedPeripheral([ScriptedService(0x180f, [ScriptedCharacteristic(0x2a19, .read, [5])])])
            let context = SessionContext.testing(try #require(DeviceID("x")), clock: simulation.gatewayClock)
            await #expect {
                try await ColmiDriver(ColmiOptions()).withSession(over: .gatt(other.link), context: context) { _ in }
            } throws: { ($0 as? DeviceError)?.message.contains("6e40fff0") == true }
        }
    }

    /// Cut values, garbage, delays and lost connections: nothing traps or hangs, and every sample lies in its range.
    @Test(arguments: UInt64(1)...16) func `works with a bad radio`(seed: UInt64) throws {
        try Simulation.run(seed: seed, start: Self.start, deadline: .hours(20)) { simulation in
            for _ in 0..<4 {
                var random = simulation.random()
                let radio = GATTFaults(
                    breaksAfter: Int.random(in: 20...600, using: &random), delay: .zero...(.milliseconds(50)),
                    cut: Int.random(in: 0...60, using: &random), garbage: Int.random(in: 0...60, using: &random))
                let ring = ScriptedRing(
                    clock: simulation.gatewayClock, worn: Self.start - .hours(10), radio: radio, random: random)
                let context = SessionContext.testing(try #require(DeviceID("ring")), clock: simulation.gatewayClock)
                do {
                    try await ColmiDriver(ColmiOptions()).withPages(ring, context) { session in
                        for metric in [Metric.heartRate, .stress, .steps, .bloodOxygen, .sleep, .skinTemperature] {
                            _ = try? await session.monitorConfiguration(of: metric)
                            let request = HistoryRequest(
                                metric: metric, from: Self.start - .days(3), to: simulation.date, limit: 7)
                            guard let page = try? await session.history(request) else { continue }
                            #expect(page.samples.allSatisfy { $0.start < simulation.date && $0.metric == metric })
                        }
                        ring.peripheral.disconnect()
                        while let events = try await session.nextEvents() {
                            for case .battery(let percent, _) in events { #expect((0...100).contains(percent)) }
                        }
                    }
                } catch { #expect(error is DeviceError, "\(error)") }
            }
        }
    }
}
