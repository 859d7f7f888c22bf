import Concurrency
import Engines
import GatewayKit
import Logging
import StoreAPI
import Vitals

/// The devices that the gateway serves, each with its own agent.
actor DeviceSupervisor {
    /// An agent to run.
    struct Launch: Sendable {
        let agent: DeviceAgent
        let ended: Promise<Void>
    }

    private struct Member {
        let setup: DeviceSetup
        let agent: DeviceAgent
        let ended: Promise<Void>
    }

    private var members: [DeviceID: Member] = [:]
    private let store: any DeviceStore
    private let output: DeviceOutput
    private let settings: CoreSettings
    private let pace: CommitPace?
    private var generator: any RandomNumberGenerator & Sendable
    private let launches: AsyncStream<Launch>
    private let launcher: AsyncStream<Launch>.Continuation

    init(
        store: any DeviceStore, output: DeviceOutput, settings: CoreSettings,
        generator: any RandomNumberGenerator & Sendable
    ) {
        self.store = store
        self.output = output
        self.settings = settings
        pace = settings.commitWithin > .zero ? CommitPace(within: settings.commitWithin, clock: settings.clock) : nil
        self.generator = generator
        (launches, launcher) = AsyncStream.makeStream()
    }

    var ids: [DeviceID] { members.keys.sorted() }

    subscript(_ device: DeviceID) -> DeviceAgent? { members[device]?.agent }

    var agents: [DeviceAgent] { ids.compactMap { members[$0]?.agent } }

    /// Returns when every device's agent has answered.
    func answer() async { for agent in agents { await agent.answer() } }

    /// The names of the drivers and transports in use.
    var plugins: [String] {
        Set(members.values.flatMap { [$0.setup.info.driver] + ($0.setup.info.transport.map { [$0] } ?? []) }).sorted()
    }

    /// Runs agents as they arrive, until `stop` is called and all have ended.
    nonisolated func run() async {
        await withDiscardingTaskGroup { group in
            for await launch in launches {
                group.addTask {
                    await self.settings.running.during("device \(launch.agent.id)") { await launch.agent.run() }
                    launch.ended.fulfil(())
                }
            }
        }
    }

    /// The result of a configuration change.
    struct Change: Sendable, Hashable {
        var added: [DeviceID] = []
        var changed: [DeviceID] = []
        var removed: [DeviceID] = []
    }

    /// Serves these devices from now on. Unchanged devices keep running.
    func apply(_ setups: [DeviceSetup]) async -> Change {
        var change = Change()
        let wanted = Dictionary(setups.map { ($0.info.id, $0) }) { first, _ in first }
        change.removed = ids.filter { wanted[$0] == nil }
        change.changed = ids.filter { id in
            wanted[id].map { $0.fingerprint != members[id]?.setup.fingerprint } ?? false
        }
        let ending = change.removed + change.changed
        for id in ending { members[id]?.agent.stop() }
        // A device stays known until it has ended: requests get its agent's answer meanwhile.
        for id in ending { try? await members[id]?.ended.wait() }
        for id in ending { members[id] = nil }
        for setup in setups where members[setup.info.id] == nil {
            if !change.changed.contains(setup.info.id) { change.added.append(setup.info.id) }
            begin(setup)
        }
        return change
    }

    /// Stops every device with a goodbye.
    func stop() async {
        for agent in agents { agent.stop() }
        launcher.finish()
        for id in ids { try? await members[id]?.ended.wait() }
    }

    private func begin(_ setup: DeviceSetup) {
        var logger = settings.logger
        logger[metadataKey: "device.id"] = "\(setup.info.id)"
        let agent = DeviceAgent(
            info: setup.info, policy: setup.policy, store: store, output: output, clock: settings.clock, pace: pace,
            logger: logger, generator: SplitMix64(seed: generator.next()), opener: setup.opener)
        let ended = Promise<Void>()
        members[setup.info.id] = Member(setup: setup, agent: agent, ended: ended)
        launcher.yield(Launch(agent: agent, ended: ended))
    }
}
