import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// Given a device, when its agent runs, then. The agent is stopped between the last two.
extension AgentRig {
    /// Runs `body` with the agent of a device, and after its end `check`, with several seeds, each of which gives another order of events.
    /// - Parameters:
    ///   - make: makes the device; without it, it has these capabilities, this content and this policy.
    ///   - prepare: what the device does from the beginning.
    static func running(
        _ seeds: Range<UInt64> = 0..<20, start: Timestamp = Fixture.noon, deadline: Duration = .hours(4),
        from make: (@Sendable (Simulation) -> AgentRig)? = nil, capabilities: Capabilities = AgentRig.capabilities,
        content: ScriptedSession.Content = ScriptedSession.Content(), policy: DevicePolicy? = nil,
        given prepare: (@Sendable (AgentRig) -> Void)? = nil,
        when body: @escaping @Sendable (AgentRig, DeviceAgent) async throws -> Void,
        then check: @escaping @Sendable (AgentRig) async throws -> Void = { _ in }
    ) throws {
        try everyOrder(seeds, start: start, deadline: deadline) { environment in
            let rig =
                make?(environment)
                ?? AgentRig(environment, capabilities: capabilities, content: content, policy: policy)
            prepare?(rig)
            try await rig.run { agent in try await body(rig, agent) }
            try await check(rig)
        }
    }

    /// Like `running`, but `body` begins when the first synchronisation has ended.
    static func synced(
        _ seeds: Range<UInt64> = 0..<20, start: Timestamp = Fixture.noon, deadline: Duration = .hours(4),
        from make: (@Sendable (Simulation) -> AgentRig)? = nil, capabilities: Capabilities = AgentRig.capabilities,
        content: ScriptedSession.Content = ScriptedSession.Content(), policy: DevicePolicy? = nil,
        given prepare: (@Sendable (AgentRig) -> Void)? = nil,
        when body: @escaping @Sendable (AgentRig, DeviceAgent) async throws -> Void,
        then check: @escaping @Sendable (AgentRig) async throws -> Void = { _ in }
    ) throws {
        let synced: @Sendable (AgentRig, DeviceAgent) async throws -> Void = { rig, agent in
            try await rig.waitForSync()
            try await body(rig, agent)
        }
        try running(
            seeds, start: start, deadline: deadline, from: make, capabilities: capabilities, content: content,
            policy: policy, given: prepare, when: synced, then: check)
    }

    /// Runs a scenario with several seeds, each of which gives another order of events.
    static func everyOrder(
        _ seeds: Range<UInt64> = 0..<20, start: Timestamp = Fixture.noon, deadline: Duration = .hours(4),
        _ body: @escaping @Sendable (Simulation) async throws -> Void
    ) throws {
        for seed in seeds { try Simulation.run(seed: seed, start: start, deadline: deadline, body) }
    }

    // MARK: - Simulated time

    /// The simulated time since the start.
    var uptime: Duration { environment.uptime }

    /// Lets simulated time pass.
    func sleep(for duration: Duration) async throws { try await environment.gatewayClock.sleep(for: duration) }

    // MARK: - What a device and its settings often are

    /// Sets limits of the resting heart rate: 40 to 100.
    func limitRestingRate(
        of agent: DeviceAgent, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let limits = MonitorSettings.fixture(limits: [.heartRate: [.resting: 40...100]])
        let answer = try await ask(
            .configure(MonitorPatch(limits.values), ifVersion: nil, adopts: false), "c", of: agent)
        #expect(answer.status == .done, "\(answer)", sourceLocation: sourceLocation)
    }
}

extension ScriptedSession.Content {
    /// A device whose measurement of the heart rate gives these values, one every five seconds.
    static func heartRates(_ values: [Double] = [70, 72, 74]) -> Self {
        Self(measurements: [
            .heartRate: .init(
                readings: values.enumerated().map { (after: .seconds(5 * ($0 + 1)), reading: .value($1)) })
        ])
    }
}
