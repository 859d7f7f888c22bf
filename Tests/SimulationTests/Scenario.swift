import Concurrency
import Contract
import Delivery
import Engines
import Foundation
import Gateway
import GatewayKit
import GatewaySimulation
import GatewayTesting
import HomeAssistant
import JSON
import Logging
import MQTT
import Simulator
import Store
import Synchronization
import TestSupport
import Vitals

/// A gateway between fault-free wearables and a broker, with a configuration that a test changes.
final class Scenario: Sendable {
    let simulation: Simulation
    let broker: InMemoryBroker
    /// Every published message.
    let observation: BrokerObservation
    let log = LogRecorder()
    let documents = DocumentTopics()
    /// The open services of plugins.
    let services = RunningServices()
    private let stores: StoreFolder
    private let state = Mutex(State())

    private struct State {
        /// The configuration as the next reload reads it.
        var file: Result<[DeviceSetup], ReloadRefusal> = .success([])
        /// The number of connections to each wearable.
        var connections: [String: Int] = [:]
        var commands = 0
        var core: GatewayCore?
    }
    /// The next reload waits for it.
    private let held = Mutex<Promise<Void>?>(nil)
    /// The next attempts to connect to the broker wait for it.
    private let heldConnection = Mutex<Promise<Void>?>(nil)
    private let heldCalls = Mutex<[FaultyStore.Call: Promise<Void>]>([:])

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

    /// Runs a scenario with several seeds, each of which gives another order of events.
    static func everyOrder(
        _ seeds: Range<UInt64>, deadline: Duration = .hours(2),
        _ body: @escaping @Sendable (Scenario) async throws -> Void
    ) throws {
        for seed in seeds {
            try Simulation.run(seed: seed, deadline: deadline) { try await body(try Scenario($0)) }
        }
    }

    /// Lets simulated time pass.
    func sleep(for duration: Duration) async throws { try await simulation.gatewayClock.sleep(for: duration) }

    // MARK: - The configuration

    /// A device entry in the configuration, for the wearable of this or another name.
    func device(
        _ id: String, wearable: String? = nil, name: String? = nil, driver: String = "simulated",
        freshFor: Duration = .minutes(30), sharing service: ServiceSetup? = nil
    ) throws -> DeviceSetup {
        guard let deviceID = DeviceID(id), let wearable = wearables[wearable ?? id] else { throw CancellationError() }
        let info = DeviceInfo(id: deviceID, name: name ?? id, driver: driver, freshness: [.heartRate: freshFor])
        let policy = DevicePolicy(freshness: info.freshness, calendar: LocalCalendar(timeZone: .gmt))
        return DeviceSetup(
            info: info, policy: policy, fingerprint: info.hashValue ^ (service?.fingerprint ?? 0),
            services: service.map { [$0] } ?? []
        ) { body in
            guard service != nil else { return try await self.connect(wearable, body) }
            try await self.services.with(SharedRadio.self) { radio in
                radio.note("\(wearable.id) in")
                defer { radio.note("\(wearable.id) out") }
                try await self.connect(wearable, body)
            }
        }
    }

    private func connect(
        _ wearable: Wearable, _ body: @escaping @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        state.withLock { $0.connections[wearable.id.text, default: 0] += 1 }
        try await wearable.connect(body)
    }

    /// A device entry that uses the simulator.
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

    /// A device entry whose connection ignores that it is cancelled, and lasts until the promise is kept.
    func stuck(_ id: String, until end: Promise<Void>) throws -> DeviceSetup {
        guard let deviceID = DeviceID(id) else { throw CancellationError() }
        return DeviceSetup(
            info: DeviceInfo(id: deviceID, name: id, driver: "stuck"),
            policy: DevicePolicy(calendar: LocalCalendar(timeZone: .gmt)), fingerprint: 0
        ) { _ in await end.waitUncancelled() }
    }

    /// A device whose connection is lost when `drop` is kept, and whose driver then goes on until `end` is kept, though it is
    /// cancelled. Later connections are good.
    func lingering(_ id: String, from drop: Promise<Void>, until end: Promise<Void>) throws -> DeviceSetup {
        let setup = try device(id)
        return DeviceSetup(info: setup.info, policy: setup.policy, fingerprint: setup.fingerprint) { body in
            try await setup.opener { session in
                guard end.value == nil else { return try await body(session) }
                _ = await race(against: { try await drop.wait() }) { try? await body(session) }
                await end.waitUncancelled()
                throw LinkError(.broken, "The connection was lost.")
            }
        }
    }

    /// Sets the configuration for later reloads.
    func write(_ file: Result<[DeviceSetup], ReloadRefusal>) { state.withLock { $0.file = file } }

    /// Lets the next reload hang until the promise is kept, as a file on a network share may.
    func holdReload(until promise: Promise<Void>) { held.withLock { $0 = promise } }

    /// Lets the next attempts to connect to the broker hang until the promise is kept, even if they are cancelled.
    func holdConnections(until promise: Promise<Void>) { heldConnection.withLock { $0 = promise } }

    /// Makes the store never end these calls before `promise` is fulfilled, like a disk that hangs.
    func hold(_ call: FaultyStore.Call, until promise: Promise<Void>) { heldCalls.withLock { $0[call] = promise } }

    /// The gateway that runs.
    var core: GatewayCore? { state.withLock { $0.core } }

    /// The number of connections to a wearable.
    func connections(of wearable: String) -> Int { state.withLock { $0.connections[wearable, default: 0] } }

    // MARK: - The gateway

    deinit { stores.remove() }

    /// Runs a gateway with these devices during `body`, and then ends it or lets it crash. A reload may be requested at
    /// the start, to race with it.
    func run(
        _ setups: [DeviceSetup], speaking version: MQTTVersion = .v5, reloadingAtOnce: Bool = false,
        crashing: Bool = false,
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let outbox = Outbox()
        let disk = try stores.open(simulation, outbox: outbox)
        let store = FaultyStore(disk) { call, _ in
            self.heldCalls.withLock { $0[call] }.map { end in .delay { await end.waitUncancelled() } }
        }
        guard let gateway = DeviceID("home") else { return }
        let calendar = LocalCalendar(timeZone: .gmt)
        var settings = CoreSettings(
            gateway: gateway.text, version: "0", topics: ContractTopics(gateway: gateway), calendar: calendar,
            clock: simulation.gatewayClock, batchWindow: .seconds(1), logger: log.logger, services: services)
        settings.documents = documents
        let discovery = Discovery(
            options: DiscoveryOptions(), topics: settings.topics,
            origin: DiscoveryOrigin(version: "0", supportURL: "https://example.org"))
        let core = GatewayCore(
            settings: settings, store: store, broker: HeldBroker(self, version), outbox: outbox,
            discovery: DiscoverySettings(discovery), seed: 1,
            reload: {
                try await self.held.withLock { $0.take() }?.wait()
                return try self.state.withLock { $0.file }.get()
            })
        state.withLock { $0.core = core }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for wearable in wearables.values { group.addTask { await wearable.run() } }
            if reloadingAtOnce { group.addTask { try await core.applyReload() } }
            group.addTask { await core.run(setups) }
            let outcome: Result<Void, any Error>
            do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
            if crashing {
                // From here on, the dying gateway has no effect.
                store.crash()
                try stores.crash()
                try await disk.close()
                broker.cut("gateway")
            } else {
                core.stop()
                // The wearables never stop by themselves.
                try await simulation.gatewayClock.sleep(for: .seconds(10))
            }
            group.cancelAll()
            store.endRun()
            try outcome.get()
        }
        state.withLock { $0.core = nil }
        if !crashing { try await disk.close() }
    }

    // MARK: - The consumer

    /// The first message on a topic of the gateway that fulfils a condition, from the position `start` on.
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

    /// The samples published on a topic of the gateway.
    func samples(_ topic: String, in range: Range<Int>) -> [JSONValue] {
        observation.messages[range].filter { $0.message.topic == "\(Self.base)/\(topic)" }
            .flatMap { (try? JSONValue(parsing: $0.message.payload))?["samples"]?.asArray ?? [] }
    }

    /// The number of messages so far.
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
        broker.publish(OutgoingMessage(topic: "\(Self.base)/\(topic)", payload: Array(payload.utf8)))
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

    /// The retained topics about a device, of the gateway and of Home Assistant.
    func retained(about device: String) -> [String] {
        broker.retained("\(Self.base)/\(device)/#").map(\.topic)
            + broker.retained("homeassistant/#").map(\.topic).filter { $0.contains("_\(device)/") }
    }

    /// Waits until a device is connected and has been synchronised.
    func settled(_ device: String, from start: Int = 0) async throws {
        try await message("\(device)/link", from: start) { $0["state"]?.asString == "connected" }
        try await message("\(device)/sync", from: start) { $0["state"]?.asString == "idle" && $0["job"] != .null }
        try await message("homeassistant/device/vitals2mqtt_home_\(device)/config", from: start)
    }

    /// The broker as the gateway reaches it.
    private struct HeldBroker: Broker {
        let home: Scenario
        let broker: any Broker

        init(_ home: Scenario, _ version: MQTTVersion) {
            self.home = home
            broker = home.broker.client(InMemoryClientOptions(id: "gateway", version: version))
        }

        func withConnection(_ body: @Sendable (any BrokerConnection) async throws -> Void) async throws {
            await home.heldConnection.withLock { $0 }?.waitUncancelled()
            try await broker.withConnection(body)
        }
    }
}
