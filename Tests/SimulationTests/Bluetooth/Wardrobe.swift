import Engines
import Foundation
import Gateway
import GatewayKit
import GatewayTesting
import Synchronization
import TestSupport
import Vitals

/// Wearables of one person, each with a connection at a time, whose faults a seed decides.
final class Wardrobe: Sendable {
    /// The time zone of the clocks without a zone.
    static let calendar = LocalCalendar(identifier: "Europe/Berlin") ?? LocalCalendar(timeZone: .gmt)
    /// The longest duration of a connection.
    private static let longest: Duration = .minutes(40)
    /// The time between two values of the strap.
    private static let pace: Duration = .minutes(1)

    let clock: GatewayClock
    let ring: ScriptedRing
    let night: ScriptedO2Ring
    let cuff: ScriptedCuff
    private let state: Mutex<State>

    private struct State {
        var random: SplitMix64
        var isCalm = false
        var connections: [String: Int] = [:]
        var beats = 0
    }

    /// - Parameter worn: since when the ring is worn and the cuff measures.
    init(_ simulation: Simulation, worn: Timestamp, recordings: [O2Recording]) {
        clock = simulation.gatewayClock
        ring = ScriptedRing(clock: clock, worn: worn, random: simulation.random())
        let files = Dictionary(uniqueKeysWithValues: recordings.map { ($0.name, $0.content) })
        night = ScriptedO2Ring(clock: clock, files: files, random: simulation.random())
        cuff = ScriptedCuff(clock: clock, from: worn)
        state = Mutex(State(random: simulation.random()))
    }

    /// The connections of a wearable so far.
    func connections(of id: String) -> Int { state.withLock { $0.connections[id, default: 0] } }
    /// The values that the strap has sent so far.
    var beats: Int { state.withLock { $0.beats } }

    /// From now on no connection breaks by a fault.
    func calmDown() { state.withLock { $0.isCalm = true } }

    private func draw(_ range: ClosedRange<Int>) -> Int { state.withLock { Int.random(in: range, using: &$0.random) } }

    /// The faults of a new connection: most of them are slow, and half of them break within their first answers and values; those of
    /// the cuff, which leaves when it has sent its records, within fewer.
    private func radio(of id: String) -> (GATTFaults, SplitMix64) {
        let most = id == "cuff" ? 16 : 300
        return state.withLock { state in
            let delay = Duration.milliseconds(1)...(.milliseconds(Int.random(in: 1...40, using: &state.random)))
            let breaks = !state.isCalm && Bool.random(using: &state.random)
            let faults = GATTFaults(
                breaksAfter: breaks ? Int.random(in: 1...most, using: &state.random) : nil, delay: delay)
            return (faults, SplitMix64(seed: state.random.next()))
        }
    }

    /// The end of a new connection with a wearable.
    private func connect(_ id: String) -> ScriptedPeripheral {
        state.withLock { $0.connections[id, default: 0] += 1 }
        let (radio, random) = radio(of: id)
        switch id {
        case "ring":
            ring.connect(radio: radio, random: random)
            return ring.peripheral
        case "night":
            night.connect(radio: radio, random: random)
            return night.peripheral
        case "cuff": return cuff.connect(radio: radio, random: random)
        case "oximeter": return ScriptedClinic(clock: clock, faults: radio, random: random).peripheral
        default:
            let table = [ScriptedService(0x180d, [ScriptedCharacteristic(0x2a37, .notify)])]
            return ScriptedPeripheral(table, faults: radio, clock: clock, random: random)
        }
    }

    /// Runs a driver with a wearable until the connection ends: at the latest when the wearable disconnects.
    func withConnection(
        _ id: String, _ body: @escaping @Sendable (ScriptedGATTLink) async throws -> Void
    ) async throws {
        let device = connect(id)
        try await withThrowingTaskGroup { group in
            group.addTask { await self.disconnectLater(device) }
            if id == "strap" { group.addTask { await self.beat(device) } }
            defer { group.cancelAll() }
            try await body(device.link)
        }
    }

    /// Ends the connection after a while, sometimes with a minute of silence before.
    private func disconnectLater(_ device: ScriptedPeripheral) async {
        let duration = Duration.seconds(draw(5...Int(Self.longest.components.seconds)))
        guard (try? await clock.sleep(for: duration)) != nil else { return }
        if draw(0...3) == 0 {
            device.fallSilent()
            guard (try? await clock.sleep(for: .minutes(1))) != nil else { return }
        }
        device.disconnect()
    }

    /// Sends a heart rate again and again: flags, and beats per minute.
    private func beat(_ device: ScriptedPeripheral) async {
        while (try? await clock.sleep(for: Self.pace)) != nil {
            let number = beats
            if device.send([0x00, UInt8(50 + number % 100)], from: 0x2a37) { state.withLock { $0.beats += 1 } }
        }
    }
}

extension Scenario {
    /// A device entry for a wearable of a wardrobe.
    func wireless(_ id: String, _ driver: any DeviceDriver, _ wardrobe: Wardrobe) throws -> DeviceSetup {
        guard let deviceID = DeviceID(id) else { throw CancellationError() }
        let context = SessionContext(
            device: deviceID, gateway: (name: "test", version: "0"), calendar: Wardrobe.calendar, clock: wardrobe.clock,
            logger: log.logger)
        return DeviceSetup(
            info: DeviceInfo(id: deviceID, name: id, driver: type(of: driver).name),
            policy: DevicePolicy(calendar: Wardrobe.calendar), fingerprint: 0, notes: context.notes
        ) { body in
            try await wardrobe.withConnection(id) { link in
                try await driver.withSession(over: .gatt(link), context: context, body)
            }
        }
    }
}
