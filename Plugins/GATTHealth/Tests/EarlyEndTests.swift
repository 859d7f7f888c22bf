import GatewayKit
import GatewayTesting
import Synchronization
import TestSupport
import Testing
import Vitals

@testable import GATTHealth

/// Devices that leave before the gateway knows all of them. What they have sent is confirmed, so that they have deleted it.
@Suite struct EarlyEndTests {
    /// What the sessions of a test had.
    private struct Outcome: Sendable {
        var samples: [Sample] = []
        var starts: [Timestamp] { samples.map(\.start) }
        var identities: [DeviceIdentity] = []
        var failures: [DeviceError] = []
    }

    /// Opens a session with a device, and takes its events until it ends.
    private func connect(
        _ device: ScriptedPeripheral, _ simulation: Simulation, notes: DeviceNotes = DeviceNotes()
    ) async throws -> Outcome {
        var context = SessionContext.testing(try #require(DeviceID("device")), clock: simulation.gatewayClock)
        context.notes = notes
        let outcome = Mutex(Outcome())
        do {
            try await HealthDriver(HealthOptions()).withSession(over: .gatt(device.link), context: context) { session in
                outcome.withLock { $0.identities.append(session.description.identity) }
                while let events = try await session.nextEvents() {
                    for case .samples(let samples, _) in events {
                        outcome.withLock { $0.samples += samples }
                    }
                }
            }
        } catch let error as DeviceError { outcome.withLock { $0.failures.append(error) } }
        return outcome.withLock { $0 }
    }

    /// After each number of answers and values: in the subscriptions, among the records, and while the gateway asks who the cuff is.
    @Test(arguments: 1...30) func `a cuff that leaves while it is asked who it is loses no record`(breaks: Int) throws {
        try Simulation.run(seed: 1, start: ScriptedClinic.moment(1440), deadline: .hours(1)) { simulation in
            let clock = simulation.gatewayClock
            let cuff = ScriptedCuff(clock: clock, from: clock.now - .hours(2))
            let radio = GATTFaults(breaksAfter: breaks, delay: .milliseconds(20)...(.milliseconds(60)))
            async let first = connect(cuff.connect(radio: radio, random: simulation.random()), simulation)
            try await clock.sleep(for: .minutes(1))
            cuff.disconnect()
            let early = try await first
            #expect(early.starts == cuff.delivered.map(\.moment))
            #expect(early.failures.count == 1)
            // What it did not send it still has.
            async let second = connect(cuff.connect(radio: .none, random: simulation.random()), simulation)
            try await clock.sleep(for: .minutes(1))
            cuff.disconnect()
            #expect(try await early.starts + second.starts == cuff.records(until: clock.now).map(\.moment))
        }
    }

    @Test func `a device that leaves early is still the one that it was`() throws {
        try Simulation.run(seed: 1, start: ScriptedClinic.moment(1440), deadline: .hours(3)) { simulation in
            let (clock, notes) = (simulation.gatewayClock, DeviceNotes())
            let cuff = ScriptedCuff(clock: clock, from: clock.now - .hours(2))
            async let whole = connect(cuff.connect(radio: .none, random: simulation.random()), simulation, notes: notes)
            try await clock.sleep(for: .minutes(1))
            cuff.disconnect()
            let identity = DeviceIdentity(manufacturer: "Acme", model: "Cuff 1", serial: "0042")
            #expect(try await whole.identities == [identity])
            try await clock.sleep(for: .hours(1))
            let early = cuff.connect(radio: .none, random: simulation.random())
            if let model = early.characteristic(0x2a24) {
                early.fail(model, with: .link(LinkError(.broken, "The connection to the device was lost.")))
            }
            let cut = try await connect(early, simulation, notes: notes)
            #expect(cut.identities == [identity])
            #expect(cut.starts.count == 1)
            #expect(cut.failures.first?.message.contains("was lost") == true)
        }
    }

    @Test func `a thermometer that leaves at once sends temperatures of the place that it is known to measure`() throws
    {
        try Simulation.run(seed: 1, start: ScriptedClinic.moment(1440), deadline: .hours(3)) { simulation in
            let notes = DeviceNotes()
            func thermometer() -> ScriptedPeripheral {
                ScriptedPeripheral(
                    [
                        ScriptedService(
                            0x1809,
                            [ScriptedCharacteristic(0x2a1c, .indicate), ScriptedCharacteristic(0x2a1d, .read, [8])])
                    ], clock: simulation.gatewayClock,
                    onSubscribe: { device, source in
                        device.send([0x02, 0x4a, 0x01, 0x00, 0xff] + ScriptedClinic.date(7), from: source)
                        device.disconnect()
                    })
            }
            let first = try await connect(thermometer(), simulation, notes: notes)
            #expect(first.starts == [ScriptedClinic.moment(7)])
            let known = try await notes.all()
            #expect(known["site"] == [8])
            let second = thermometer()
            if let site = second.characteristic(0x2a1d) {
                second.fail(site, with: .link(LinkError(.broken, "The connection to the device was lost.")))
            }
            let again = try await connect(second, simulation, notes: notes)
            #expect(again.samples == first.samples)
            #expect(again.samples.map(\.metric) == [.skinTemperature])
        }
    }

    @Test func `a device that has sent nothing is not opened by an error`() throws {
        try Simulation.run(seed: 1, start: ScriptedClinic.moment(1440), deadline: .hours(1)) { simulation in
            let device = ScriptedPeripheral(
                [
                    ScriptedService(0x1810, [ScriptedCharacteristic(0x2a35, .indicate)]),
                    ScriptedService(0x180a, [ScriptedCharacteristic(0x2a24, .read, Array("Cuff 1".utf8))]),
                ], clock: simulation.gatewayClock, onSubscribe: { device, _ in device.disconnect() })
            let outcome = try await connect(device, simulation)
            #expect(outcome.identities.isEmpty)
            #expect(outcome.failures.count == 1)
        }
    }
}
