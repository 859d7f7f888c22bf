import Concurrency
import Engines
import GatewayKit
import Logging
import StoreAPI
import Vitals

/// The devices that the gateway serves, each with its own agent, and the services of plugins that they share.
actor DeviceSupervisor {
    private final class Member: Sendable {
        let setup: DeviceSetup
        let agent: DeviceAgent
        let ended = Promise<Void>()

        init(setup: DeviceSetup, agent: DeviceAgent) {
            self.setup = setup
            self.agent = agent
        }
    }

    private var members: [DeviceID: Member] = [:]
    /// Whether `stop` was called: nothing begins any more.
    private var isStopping = false
    private let store: any DeviceStore
    private let output: DeviceOutput
    private let settings: CoreSettings
    private let pace: CommitPace?
    private var generator: any RandomNumberGenerator & Sendable
    private let services: ServiceSupervisor
    /// Runs agents and services.
    private let launcher = Launcher()
    /// The alarms of all agents.
    private let alarms: Alarms
    /// Lets one agent at a time read its state at the start.
    private let restoring = AsyncMutex()

    init(
        store: any DeviceStore, output: DeviceOutput, settings: CoreSettings,
        generator: any RandomNumberGenerator & Sendable
    ) {
        self.store = store
        self.output = output
        self.settings = settings
        pace = settings.commitWithin > .zero ? CommitPace(within: settings.commitWithin, clock: settings.clock) : nil
        var generator = generator
        services = ServiceSupervisor(settings: settings, generator: SplitMix64(seed: generator.next()))
        self.generator = generator
        alarms = Alarms(clock: settings.clock)
    }

    var ids: [DeviceID] { members.keys.sorted() }

    subscript(_ device: DeviceID) -> DeviceAgent? { members[device]?.agent }

    var agents: [DeviceAgent] { ids.compactMap { members[$0]?.agent } }

    /// Returns when every device's agent has answered.
    func answer() async { for member in members.values { await member.agent.answer() } }

    /// Whether the service of a plugin is kept open for devices.
    func keeps(_ service: String) -> Bool { services.keeps(service) }

    /// The names of the drivers and transports in use.
    var plugins: [String] {
        Set(members.values.flatMap { [$0.setup.info.driver] + ($0.setup.info.transport.map { [$0] } ?? []) }).sorted()
    }

    /// Runs agents and services as they arrive, until `stop` is called and all have ended.
    nonisolated func run() async {
        _ = await race(against: { await self.launcher.run() }) { await self.alarms.run() }
    }

    /// The result of a configuration change.
    struct Change: Sendable, Hashable {
        var added: [DeviceID] = []
        var changed: [DeviceID] = []
        var removed: [DeviceID] = []
    }

    /// Serves these devices from now on. Unchanged devices keep running. A service begins before its devices and ends after
    /// them.
    func apply(_ setups: [DeviceSetup]) async -> Change {
        var change = Change()
        let wanted = Dictionary(setups.map { ($0.info.id, $0) }) { first, _ in first }
        change.removed = ids.filter { wanted[$0] == nil }
        change.changed = ids.filter { id in
            wanted[id].map { $0.fingerprint != members[id]?.setup.fingerprint } ?? false
        }
        let ending = change.removed + change.changed
        for id in ending {
            guard let member = members[id] else { continue }
            settings.passing.expect(.device(id), toFulfil: member.ended)
            member.agent.stop()
        }
        // A device stays known until it has ended: requests get its agent's answer meanwhile.
        for id in ending { try? await members[id]?.ended.wait() }
        for id in ending {
            members[id]?.setup.messages?.end(in: settings.documents)
            // With the same transport it is expected again in a moment, and its waiting documents with it.
            if members[id]?.setup.info.transport != wanted[id]?.info.transport { members[id]?.setup.presence.end() }
            members[id] = nil
        }
        await services.end(allBut: setups)
        guard !isStopping else { return change }
        await services.begin(for: setups) { [launcher] in
            launcher.launch($0)
        } onReopened: { [weak self] in
            await self?.reconnectDevices(of: $0)
        }
        // A device that began during a stop would get no goodbye.
        for setup in setups where members[setup.info.id] == nil && !isStopping {
            if !change.changed.contains(setup.info.id) { change.added.append(setup.info.id) }
            begin(setup)
        }
        return change
    }

    /// Stops every device with a goodbye, and then what they share.
    func stop() async {
        isStopping = true
        for agent in agents { agent.stop() }
        for id in ids { try? await members[id]?.ended.wait() }
        await services.end()
        launcher.finish()
    }

    /// Lets the devices of a service that is open again connect without waiting for their next attempt.
    private func reconnectDevices(of service: String) {
        for member in members.values where member.setup.services.contains(where: { $0.name == service }) {
            member.setup.presence.notice()
        }
    }

    private func begin(_ setup: DeviceSetup) {
        var logger = settings.logger
        logger[metadataKey: "device.id"] = "\(setup.info.id)"
        let agent = DeviceAgent(
            info: setup.info, policy: setup.policy, store: store, output: output, clock: settings.clock,
            alarms: alarms, restoring: restoring, pace: pace, logger: logger,
            generator: SplitMix64(seed: generator.next()),
            presence: setup.presence, opener: setup.opener)
        setup.messages?.begin(in: settings.documents)
        let member = Member(setup: setup, agent: agent)
        members[setup.info.id] = member
        launcher.launch { [running = settings.running] in
            await running.during("device \(agent.id)") { await agent.run() }
            member.ended.fulfil(())
        }
    }
}
