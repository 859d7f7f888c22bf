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
        for id in ids {
            guard let setup = wanted[id] else {
                change.removed.append(id)
                await end(id)
                continue
            }
            guard setup.fingerprint != members[id]?.setup.fingerprint else { continue }
            change.changed.append(id)
            await end(id)
        }
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

    private func end(_ id: DeviceID) async {
        guard let member = members.removeValue(forKey: id) else { return }
        member.agent.stop()
        try? await member.ended.wait()
    }
}
