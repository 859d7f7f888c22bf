import Contract
import Delivery
import Engines
import Foundation
import Gateway
import GatewayKit
import GatewaySimulation
import GatewayTesting
import JSON
import Logging
import MQTT
import Store
import Synchronization
import TestSupport
import Vitals

@testable import Simulator

/// Four simulated wearables, a broker, and the whole gateway, which can be started and stopped.
final class FourWearables: Sendable {
    let simulation: Simulation
    let broker: InMemoryBroker
    let observation: BrokerObservation
    let answers: BrokerObservation
    let devices: [AmendedDevice]
    private let setups: [DeviceSetup]
    private let settings: CoreSettings
    private let stores: StoreFolder

    /// The wearables by device name, each with its monitoring settings: less dense than the factory settings, so that a
    /// year has a hundred thousand samples and not a million.
    static let models: [(id: String, model: Model, monitoring: String?)] = [
        (
            "band", .band,
            #"""
            {"heart_rate":{"schedule":{"interval_min":120}},"blood_pressure":{"schedule":{"interval_min":240}},
             "blood_oxygen":{"schedule":{"interval_min":240}},"stress":{"schedule":{"interval_min":240}},
             "temperature":{"schedule":{"interval_min":240}},"heart_rate_variability":{"schedule":{"interval_min":480}},
             "respiratory_rate":{"schedule":{"interval_min":480}},"skin_temperature":{"schedule":{"interval_min":480}}}
            """#
        ),
        (
            "ring", .ring,
            #"""
            {"heart_rate":{"schedule":{"interval_min":180}},"blood_oxygen":{"schedule":{"interval_min":240}},
             "stress":{"schedule":{"interval_min":240}},"temperature":{"schedule":{"interval_min":240}},
             "heart_rate_variability":{"schedule":{"interval_min":480}},
             "respiratory_rate":{"schedule":{"interval_min":480}},"skin_temperature":{"schedule":{"interval_min":480}}}
            """#
        ),
        ("cuff", .cuff, nil), ("oximeter", .oximeter, nil),
    ]

    /// - Parameter first: the range of the first synchronisation, back from now.
    init(
        simulation: Simulation, zone: String, historyDays: Int, first: Duration = .days(30),
        additions: [String: [Sample]] = [:]
    ) throws {
        self.simulation = simulation
        guard let gateway = DeviceID("home"), let calendar = LocalCalendar(identifier: zone) else {
            throw CocoaError(.formatting)
        }
        let clock = simulation.gatewayClock
        broker = InMemoryBroker(clock: clock, generator: simulation.random())
        observation = broker.observe("vitals2mqtt/home/#")
        answers = broker.observe("vitals2mqtt/home/+/response")
        stores = try StoreFolder()
        var logger = Logger(label: "simulation", factory: { _ in SwiftLogNoOpLogHandler() })
        logger.logLevel = .critical
        let settings = CoreSettings(
            gateway: gateway.text, version: "0", topics: ContractTopics(gateway: gateway), calendar: calendar,
            clock: clock, batchWindow: .seconds(1), logger: logger)
        self.settings = settings
        devices = Self.models.compactMap { name, _, _ in
            DeviceID(name).map { AmendedDevice(id: $0, additions: additions[name] ?? []) }
        }
        setups = zip(devices, Self.models).map { Self.setup($0, $1.model, historyDays, first, settings) }
    }

    private static func setup(
        _ device: AmendedDevice, _ model: Model, _ historyDays: Int, _ first: Duration, _ settings: CoreSettings
    ) -> DeviceSetup {
        let driver = SimulatorDriver(
            SimulatorOptions(
                model: model, seed: 11, historyDays: historyDays, liveInterval: model == .band ? .seconds(30) : nil))
        let context = SessionContext(
            device: device.id, gateway: (name: "test", version: "0"), calendar: settings.calendar,
            clock: settings.clock, logger: settings.logger)
        return DeviceSetup(
            info: DeviceInfo(id: device.id, name: device.id.text, driver: "simulator"),
            policy: DevicePolicy(sync: SyncPolicy(first: first), calendar: settings.calendar), fingerprint: 0
        ) { body in
            try await driver.withSession(over: .none, context: context) { session in
                try await body(AmendedSession(base: session, device: device, clock: context.clock))
            }
        }
    }

    /// The current moment as a Foundation date.
    var now: Date { Date(timeIntervalSince1970: Double(simulation.date.milliseconds) / 1000) }

    func sleep(until moment: Date) async throws {
        let wait = moment.timeIntervalSince(now)
        if wait > 0 { try await simulation.gatewayClock.sleep(for: .milliseconds(Int(wait * 1000))) }
    }

    /// Runs a gateway during `body`.
    func runGateway(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let outbox = Outbox()
        let store = try stores.open(simulation, outbox: outbox)
        let core = GatewayCore(
            settings: settings, store: store, broker: broker.client(id: "gateway"), outbox: outbox,
            discovery: .off, seed: 1, reload: { [] })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [setups] in await core.run(setups) }
            defer { core.stop() }
            try await body()
            core.stop()
            try await group.waitForAll()
        }
        try await store.close()
    }

    func remove() { stores.remove() }

    /// Publishes a command.
    func send(_ text: String, to device: String, _ name: String) {
        broker.publish(OutgoingMessage(topic: "vitals2mqtt/home/\(device)/\(name)", payload: Array(text.utf8)))
    }

    /// Publishes a command and waits for its final answer.
    func ask(_ command: String, _ id: String, of device: String, _ members: [(String, JSONValue)]) async throws
        -> JSONValue
    {
        let members = [("id", JSONValue.string(id))] + members
        send("\(JSONValue.object(members.map { .init($0.0, $0.1) }))", to: device, "command/\(command)")
        return try await answer(id)
    }

    /// Waits for the final answer of a command.
    func answer(_ id: String) async throws -> JSONValue {
        @Sendable func final(_ messages: [PublishedMessage]) -> JSONValue? {
            for message in messages.reversed() {
                guard let body = try? JSONValue(parsing: message.message.payload), body["id"]?.asString == id else {
                    continue
                }
                if body["status"] != "accepted" { return body }
            }
            return nil
        }
        let messages = try await answers.wait { final(Array($0.suffix(4))) != nil }
        return final(Array(messages.suffix(4))) ?? .null
    }
}
