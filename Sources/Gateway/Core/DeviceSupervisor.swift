import Concurrency
import Engines
import GatewayKit
import Logging
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

    /// How long a change of the configuration waits for devices, and then for what they share, to end. Later each of them is
    /// `late`, begins anew when it has ended, and holds up nothing else.
    static let timeout = LivenessPart.endLimit

    private var members: [DeviceID: Member] = [:]
    /// The devices of the newest configuration.
    private var wanted: [DeviceID: DeviceSetup] = [:]
    /// The devices that have not ended in time, and still have to.
    private var overdue: Set<DeviceID> = []
    /// Those of them that were removed, and have perhaps come back.
    private var departed: Set<DeviceID> = []
    /// Whether `stop` was called: nothing begins any more.
    private var isStopping = false
    private let store: any DeviceStore
    private let output: DeviceOutput
    private let settings: CoreSettings
    private let window: BatchWindow?
    private var generator: any RandomNumberGenerator & Sendable
    private let services: ServiceSupervisor
    /// Runs agents and services.
    private let launcher = TaskLauncher()
    /// The timers of all agents.
    private let timers: Timers
    /// Lets one agent at a time read its state at the start.
    private let restoring = AsyncMutex()

    init(
        store: any DeviceStore, output: DeviceOutput, settings: CoreSettings,
        generator: any RandomNumberGenerator & Sendable
    ) {
        self.store = store
        self.output = output
        self.settings = settings
        window = settings.batchWindow > .zero ? BatchWindow(within: settings.batchWindow, clock: settings.clock) : nil
        var generator = generator
        services = ServiceSupervisor(settings: settings, generator: SplitMix64(seed: generator.next()))
        self.generator = generator
        timers = Timers(clock: settings.clock)
    }

    var ids: [DeviceID] { members.keys.sorted() }

    subscript(_ device: DeviceID) -> DeviceAgent? { members[device]?.agent }

    /// A device's requests for a passkey; `nil` if its transport makes none.
    func passkeys(of device: DeviceID) -> PasskeyRequests? { members[device]?.setup.passkeys }

    var agents: [DeviceAgent] { ids.compactMap { members[$0]?.agent } }

    /// Returns when every device's agent has answered.
    func answer() async { for member in members.values { await member.agent.answer() } }

    /// Whether the service of a plugin is kept open for devices.
    func runs(_ service: String) -> Bool { services.runs(service) }

    /// Returns when a timer has fired.
    nonisolated func answerOfTimers() async { await timers.answer() }

    /// The names of the drivers and transports in use.
    var plugins: [String] {
        Set(members.values.flatMap { [$0.setup.info.driver] + ($0.setup.info.transport.map { [$0] } ?? []) }).sorted()
    }

    /// Runs agents and services as they arrive, until `stop` is called and all have ended.
    nonisolated func run() async {
        _ = await race(against: { await self.launcher.run() }) { await self.timers.run() }
    }

    /// The result of a configuration change.
    struct Change: Sendable, Hashable {
        var added: [DeviceID] = []
        var changed: [DeviceID] = []
        var removed: [DeviceID] = []
        /// Those of the changed and removed ones that have not ended in time.
        var overdue: Set<DeviceID> = []
    }

    /// Serves these devices from now on. Unchanged devices keep running. A service begins before its devices and ends after
    /// them. A device that does not end in time begins anew when it has ended.
    /// - Parameters:
    ///   - onRemoved: called for a removed device that ended too late for `Change`.
    ///   - onReturned: called instead if it has come back meanwhile, before it begins anew.
    func apply(
        _ setups: [DeviceSetup], onRemoved: @escaping @Sendable (DeviceID) async -> Void = { _ in },
        onReturned: @escaping @Sendable (DeviceID) async -> Void = { _ in }
    ) async -> Change {
        var change = Change()
        let before = wanted
        wanted = Dictionary(setups.map { ($0.info.id, $0) }) { first, _ in first }
        change.removed = before.keys.filter { wanted[$0] == nil }.sorted()
        change.changed = before.filter { id, setup in wanted[id].map { $0.fingerprint != setup.fingerprint } ?? false }
            .keys.sorted()
        change.added = setups.map(\.info.id).filter { before[$0] == nil }
        let ending = (change.removed + change.changed).filter { !overdue.contains($0) }.compactMap { members[$0] }
        for member in ending {
            settings.passing.expect(.device(member.agent.id), toFulfil: member.ended)
            member.agent.stop()
        }
        // A device stays known until it has ended: requests get its agent's answer meanwhile.
        if !ending.isEmpty {
            await settings.clock.withTimeout(Self.timeout) {
                for member in ending { try? await member.ended.wait() }
            }
        }
        for member in ending {
            if member.ended.value != nil { remove(member) } else { expectLate(member, onRemoved, onReturned) }
        }
        change.overdue = overdue.intersection(change.removed + change.changed)
        departed.formUnion(overdue.intersection(change.removed))
        for service in await services.end(allBut: setups, timeout: Self.timeout) {
            launcher.launch {
                try? await service.wait()
                await self.beginServices()
            }
        }
        await beginServices()
        // A device that began during a stop would get no graceful disconnect.
        for setup in setups where members[setup.info.id] == nil && !isStopping { begin(setup) }
        return change
    }

    /// Forgets a member that has ended.
    private func remove(_ member: Member) {
        let id = member.agent.id
        member.setup.messages?.end(in: settings.documents)
        member.setup.passkeys?.unfollow(clock: settings.clock)
        // With the same transport it is expected again in a moment, and its waiting documents with it.
        if member.setup.info.transport != wanted[id]?.info.transport { member.setup.presence.end() }
        members[id] = nil
    }

    /// Serves a device anew when it has ended, if the newest configuration has it.
    private func expectLate(
        _ member: Member, _ onRemoved: @escaping @Sendable (DeviceID) async -> Void,
        _ onReturned: @escaping @Sendable (DeviceID) async -> Void
    ) {
        let id = member.agent.id
        overdue.insert(id)
        settings.logger.error(
            "A device has not ended; it is served again when it has.",
            metadata: ["device.id": "\(id)", "seconds": "\(Self.timeout.components.seconds)"])
        launcher.launch {
            try? await member.ended.wait()
            await self.hasEndedLate(member, onRemoved, onReturned)
        }
    }

    private func hasEndedLate(
        _ member: Member, _ onRemoved: @Sendable (DeviceID) async -> Void,
        _ onReturned: @Sendable (DeviceID) async -> Void
    ) async {
        let id = member.agent.id
        // While it is overdue, no change of the configuration begins it.
        while departed.remove(id) != nil { if wanted[id] != nil { await onReturned(id) } }
        overdue.remove(id)
        remove(member)
        guard !isStopping else { return }
        if let setup = wanted[id] { begin(setup) } else { await onRemoved(id) }
    }

    /// Begins the services of the newest configuration that do not run.
    private func beginServices() async {
        guard !isStopping else { return }
        let setups = wanted.values.sorted { $0.info.id < $1.info.id }
        await services.begin(for: setups) { [launcher] in
            launcher.launch($0)
        } onReopened: { [weak self] in
            await self?.reconnectDevices(of: $0)
        }
    }

    /// Stops every device with a graceful disconnect, and then what they share.
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
            member.setup.presence.sawDevice()
        }
    }

    private func begin(_ setup: DeviceSetup) {
        var logger = settings.logger
        logger[metadataKey: "device.id"] = "\(setup.info.id)"
        let agent = DeviceAgent(
            info: setup.info, policy: setup.policy, store: store, output: output, clock: settings.clock,
            timers: timers, restoring: restoring, window: window, logger: logger,
            generator: SplitMix64(seed: generator.next()),
            presence: setup.presence, opener: setup.opener)
        setup.messages?.begin(in: settings.documents)
        setup.notes.attach(to: DeviceNotes.Storage(store, of: setup.info.id))
        setup.passkeys?.follow(clock: settings.clock) { [output, id = setup.info.id] in
            output.state(id, .pairing($0))
        }
        let member = Member(setup: setup, agent: agent)
        members[setup.info.id] = member
        launcher.launch { [running = settings.running] in
            await running.during("device \(agent.id)") { await agent.run() }
            member.ended.fulfil(())
        }
    }
}
