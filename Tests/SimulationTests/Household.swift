import Contract
import Engines
import Foundation
import Gateway
import GatewayKit
import GatewayTesting
import HomeAssistant
import JSON
import Logging
import MQTT
import Simulator
import Store
import Synchronization
import Vitals

/// A gateway between wearables and a broker that all behave, with a configuration that a test changes.
final class Household: Sendable {
    let simulation: Simulation
    let broker: InMemoryBroker
    /// Everything that is published.
    let observation: BrokerObservation
    let log = LogRecorder()
    private let stores: StoreFolder
    private let state = Mutex(State())

    private struct State {
        /// What the configuration says when it is read again.
        var file: Result<[DeviceSetup], ReloadRefusal> = .success([])
        /// How often each wearable was connected.
        var connections: [String: Int] = [:]
        var commands = 0
    }

    static let base = "vitals2mqtt/home"
    static let names = ["band", "ring", "cuff"]

    private let wearables: [String: Wearable]

    init(_ simulation: Simulation) throws {
        self.simulation = simulation
        broker = InMemoryBroker(clock: simulation.gatewayClock, generator: simulation.random())
        observation = broker.observe()
        stores = try StoreFolder()
        var wearables: [String: Wearable] = [:]
        for name in Self.names {
            guard let id = DeviceID(name) else { continue }
            wearables[name] = Wearable(
                id: id, clock: simulation.gatewayClock, faults: Wearable.Faults(), asksForReceipts: false,
                random: simulation.random())
        }
        self.wearables = wearables
    }

    // MARK: - The configuration

    /// A device of the configuration, which is one of the wearables, or called like one.
    func device(
        _ id: String, wearable: String? = nil, name: String? = nil, driver: String = "simulated",
        freshFor: Duration = .minutes(30)
    ) throws -> DeviceSetup {
        guard let deviceID = DeviceID(id), let wearable = wearables[wearable ?? id] else { throw CancellationError() }
        let info = DeviceInfo(id: deviceID, name: name ?? id, driver: driver, freshness: [.heartRate: freshFor])
        let policy = DevicePolicy(freshness: info.freshness, calendar: LocalCalendar(timeZone: .gmt))
        return DeviceSetup(info: info, policy: policy, fingerprint: info.hashValue) { body in
            self.state.withLock { $0.connections[wearable.id.text, default: 0] += 1 }
            try await wearable.connect(body)
        }
    }

    /// A device of the configuration that the simulator plays.
    func simulated(_ id: String, _ options: [(key: String, value: String)]) throws -> DeviceSetup {
        guard let deviceID = DeviceID(id) else { throw CancellationError() }
        var reader = ConfigurationReader(
            ConfigurationValue(
                .map(
                    options.map {
                        (ConfigurationKey($0.key), ConfigurationValue(.scalar($0.value, isQuoted: false)))
                    })), path: "options")
        let driver = SimulatorDriver(options: &reader)
        let calendar = LocalCalendar(timeZone: .gmt)
        let context = SessionContext(
            device: deviceID, gateway: (name: "test", version: "0"), calendar: calendar,
            clock: simulation.gatewayClock, logger: log.logger)
        return DeviceSetup(
            info: DeviceInfo(id: deviceID, name: id, driver: SimulatorDriver.name),
            policy: DevicePolicy(calendar: calendar), fingerprint: 0
        ) { body in try await driver.withSession(over: .none, context: context, body) }
    }

    /// What a reload finds from now on.
    func write(_ file: Result<[DeviceSetup], ReloadRefusal>) { state.withLock { $0.file = file } }

    /// How often a wearable was connected.
    func connections(of wearable: String) -> Int { state.withLock { $0.connections[wearable, default: 0] } }

    // MARK: - The gateway

    /// Runs a gateway with these devices for as long as `body` takes. A reload may be asked for with the start, by whoever is
    /// quicker.
    func run(
        _ setups: [DeviceSetup], reloadingAtOnce: Bool = false, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        defer { stores.remove() }
        let delivery = Delivery()
        let store = try stores.open(simulation, delivery: delivery)
        guard let gateway = DeviceID("home") else { return }
        let calendar = LocalCalendar(timeZone: .gmt)
        let settings = CoreSettings(
            gateway: gateway.text, version: "0", topics: ContractTopics(gateway: gateway), calendar: calendar,
            clock: simulation.gatewayClock, logger: log.logger)
        let discovery = Discovery(
            options: DiscoveryOptions(), topics: settings.topics,
            origin: DiscoveryOrigin(version: "0", supportURL: "https://example.org"))
        let core = GatewayCore(
            settings: settings, store: store, broker: broker.client(id: "gateway"), delivery: delivery,
            discovery: DiscoverySettings(discovery), seed: 1,
            reload: { try self.state.withLock { $0.file }.get() })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for wearable in wearables.values { group.addTask { await wearable.live() } }
            if reloadingAtOnce { group.addTask { try await core.applyReload() } }
            group.addTask { await core.run(setups) }
            let outcome: Result<Void, any Error>
            do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
            core.stop()
            // The wearables live for ever.
            try await simulation.gatewayClock.sleep(for: .seconds(10))
            group.cancelAll()
            try outcome.get()
        }
        try await store.close()
    }

    // MARK: - The consumer

    /// The first message under a topic of the gateway that fulfils a condition, from the position `start` on.
    @discardableResult
    func message(
        _ topic: String, from start: Int = 0, where condition: @escaping @Sendable (JSONValue) -> Bool = { _ in true }
    ) async throws -> JSONValue {
        let topic = topic.hasPrefix("homeassistant/") ? topic : "\(Self.base)/\(topic)"
        @Sendable func first(_ messages: [PublishedMessage]) -> JSONValue? {
            messages.dropFirst(start).lazy.filter { $0.message.topic == topic }
                .compactMap { try? JSONValue(parsing: $0.message.payload) }.first(where: condition)
        }
        let messages = try await observation.wait { first($0) != nil }
        guard let message = first(messages) else { throw CancellationError() }
        return message
    }

    /// The samples that came under a topic of the gateway.
    func samples(_ topic: String, in range: Range<Int>) -> [JSONValue] {
        observation.messages[range].filter { $0.message.topic == "\(Self.base)/\(topic)" }
            .flatMap { (try? JSONValue(parsing: $0.message.payload))?["samples"]?.asArray ?? [] }
    }

    /// How many messages were published so far.
    var position: Int { observation.messages.count }

    /// Sends a command and returns its final answer.
    func ask(_ topic: String, _ members: String = "") async throws -> JSONValue {
        let id = send(topic, members)
        return try await answer(id)
    }

    /// Sends a command. Returns its id.
    func send(_ topic: String, _ members: String = "") -> String {
        let id = state.withLock { state in
            state.commands += 1
            return "c\(state.commands)"
        }
        let payload = "{\"id\":\"\(id)\"\(members.isEmpty ? "" : "," + members)}"
        broker.publish(OutboundMessage(topic: "\(Self.base)/\(topic)", payload: Array(payload.utf8)))
        return id
    }

    /// The final answer of a command.
    func answer(_ id: String) async throws -> JSONValue {
        @Sendable func first(_ messages: [PublishedMessage]) -> JSONValue? {
            messages.lazy.filter { $0.message.topic.hasSuffix("/response") }
                .compactMap { try? JSONValue(parsing: $0.message.payload) }
                .first { $0["id"]?.asString == id && $0["status"]?.asString != "accepted" }
        }
        guard let answer = first(try await observation.wait { first($0) != nil }) else { throw CancellationError() }
        return answer
    }

    /// The topics under which something is retained about a device, of the gateway's own and of Home Assistant's.
    func retained(about device: String) -> [String] {
        broker.retained("\(Self.base)/\(device)/#").map(\.topic)
            + broker.retained("homeassistant/#").map(\.topic).filter { $0.contains("_\(device)/") }
    }

    /// Waits until a device is connected and announced.
    func settled(_ device: String, from start: Int = 0) async throws {
        try await message("\(device)/link", from: start) { $0["state"]?.asString == "connected" }
        try await message("\(device)/sync", from: start) { $0["state"]?.asString == "idle" && $0["job"] != .null }
        try await message("homeassistant/device/vitals2mqtt_home_\(device)/config", from: start)
    }
}
