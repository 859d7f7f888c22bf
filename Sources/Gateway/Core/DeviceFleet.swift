import Engines
import GatewayKit
import Logging
import Vitals

/// The devices that the gateway serves, each by an agent of its own.
actor DeviceFleet {
    /// An agent that is to be run.
    struct Launch: Sendable {
        let agent: DeviceAgent
        let ended: Latch<Void>
    }

    private struct Member {
        let setup: DeviceSetup
        let agent: DeviceAgent
        let ended: Latch<Void>
    }

    private var members: [DeviceID: Member] = [:]
    private let store: any GatewayStore
    private let output: DeviceOutput
    private let settings: CoreSettings
    private var generator: any RandomNumberGenerator & Sendable
    private let launches: AsyncStream<Launch>
    private let launcher: AsyncStream<Launch>.Continuation

    init(
        store: any GatewayStore, output: DeviceOutput, settings: CoreSettings,
        generator: any RandomNumberGenerator & Sendable
    ) {
        self.store = store
        self.output = output
        self.settings = settings
        self.generator = generator
        (launches, launcher) = AsyncStream.makeStream()
    }

    var ids: [DeviceID] { members.keys.sorted() }

    subscript(_ device: DeviceID) -> DeviceAgent? { members[device]?.agent }

    var agents: [DeviceAgent] { ids.compactMap { members[$0]?.agent } }

    /// The names of the plugins' drivers and transports that are in use.
    var plugins: [String] {
        Set(members.values.flatMap { [$0.setup.info.driver] + ($0.setup.info.transport.map { [$0] } ?? []) }).sorted()
    }

    /// Runs agents as they come, until `stop` was called and all have ended.
    nonisolated func run() async {
        await withDiscardingTaskGroup { group in
            for await launch in launches {
                group.addTask {
                    await launch.agent.run()
                    launch.ended.open(())
                }
            }
        }
    }

    /// What a change of the configuration did.
    struct Change: Sendable, Hashable {
        var added: [DeviceID] = []
        var changed: [DeviceID] = []
        var removed: [DeviceID] = []
    }

    /// Serves these devices from now on. Those that did not change are not touched.
    func apply(_ setups: [DeviceSetup]) async -> Change {
        var change = Change()
        let wanted = Dictionary(setups.map { ($0.info.id, $0) }) { first, _ in first }
        change.removed = ids.filter { wanted[$0] == nil }
        change.changed = ids.filter { id in
            wanted[id].map { $0.fingerprint != members[id]?.setup.fingerprint } ?? false
        }
        let ending = change.removed + change.changed
        for id in ending { members[id]?.agent.stop() }
        // Until it has ended a device stays known: whoever asks something of it meanwhile gets its agent's answer.
        for id in ending { try? await members[id]?.ended.wait() }
        for id in ending { members[id] = nil }
        for setup in setups where members[setup.info.id] == nil {
            if !change.changed.contains(setup.info.id) { change.added.append(setup.info.id) }
            begin(setup)
        }
        return change
    }

    /// Ends every device, each with a goodbye.
    func stop() async {
        for agent in agents { agent.stop() }
        launcher.finish()
        for id in ids { try? await members[id]?.ended.wait() }
    }

    private func begin(_ setup: DeviceSetup) {
        var logger = settings.logger
        logger[metadataKey: "device.id"] = "\(setup.info.id)"
        let agent = DeviceAgent(
            info: setup.info, policy: setup.policy, store: store, output: output, clock: settings.clock, logger: logger,
            generator: SplitMix64(seed: generator.next()), opener: setup.opener)
        let ended = Latch<Void>()
        members[setup.info.id] = Member(setup: setup, agent: agent, ended: ended)
        launcher.yield(Launch(agent: agent, ended: ended))
    }
}
