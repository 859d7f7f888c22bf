import Concurrency
import Engines
import GatewayKit
import GatewayTesting
import Logging
import Synchronization
import TestSupport
import Testing
import Vitals

/// An agent with a scripted device, its own store, and a record of everything it publishes.
final class AgentRig: Sendable {
    enum Event: Sendable {
        case state(DeviceState)
        case answer(String, Answer)
    }

    /// The result of an attempt to connect.
    enum Opening: Sendable { case open, refuse, hang }

    private struct State {
        var content: ScriptedSession.Content
        var session: ScriptedSession?
        var openings: [Opening] = []
        /// How many further attempts are refused.
        var refusals = 0
        var behaviour: @Sendable (ScriptedSession.Call) -> ScriptedSession.Behaviour = { _ in .answer }
        var skew = Duration.zero
        var calls: [ScriptedSession.Call] = []
        var submitted: Set<String> = []
    }

    let environment: Simulation
    let capabilities: Capabilities
    let events = Recorder<Event>()
    /// What the log has from `logLevel` on.
    let log = LogRecorder()
    private let logLevel: Logger.Level
    let store: ScratchStore
    let policy: DevicePolicy
    let window: BatchWindow?
    /// The names of user slots.
    let people: [Int: String]
    let timers: Timers
    let presence = DevicePresence()
    private let state: Mutex<State>

    init(
        _ environment: Simulation, capabilities: Capabilities = AgentRig.capabilities,
        content: ScriptedSession.Content = ScriptedSession.Content(), policy: DevicePolicy? = nil,
        store: ScratchStore? = nil, batchWindow: Duration = .zero, logLevel: Logger.Level = .notice,
        people: [Int: String] = [:]
    ) {
        self.people = people
        self.logLevel = logLevel
        self.environment = environment
        self.capabilities = capabilities
        self.store = store ?? Self.scratchStore(environment)
        self.policy = policy ?? DevicePolicy(calendar: Fixture.utc)
        window = batchWindow > .zero ? BatchWindow(within: batchWindow, clock: environment.gatewayClock) : nil
        timers = Timers(clock: environment.gatewayClock)
        state = Mutex(State(content: content))
    }

    private static func scratchStore(_ environment: Simulation) -> ScratchStore {
        do { return try ScratchStore(environment) } catch {
            preconditionFailure("There is no place for a store: \(error)")
        }
    }

    static let capabilities = Capabilities([
        .heartRate: [.measure, .history], .steps: [.history], .bloodOxygen: [.monitor, .scheduleTime, .history],
    ])

    // MARK: - The device

    /// The open session, or the last one.
    var session: ScriptedSession? { state.withLock { $0.session } }
    /// The calls of all sessions so far.
    var calls: [ScriptedSession.Call] { state.withLock { $0.calls + ($0.session?.calls ?? []) } }

    /// Treats calls of this kind so from now on, and answers all others.
    func behave(_ behaviour: ScriptedSession.Behaviour, on kind: ScriptedSession.Call.Kind) {
        behave { $0.kind == kind ? behaviour : .answer }
    }

    func behave(_ behaviour: @escaping @Sendable (ScriptedSession.Call) -> ScriptedSession.Behaviour) {
        state.withLock { state in
            state.behaviour = behaviour
            state.session?.behave(behaviour)
        }
    }

    /// Sets the results of the next attempts; later ones succeed.
    func open(_ openings: Opening...) { state.withLock { $0.openings = openings } }
    /// Refuses the next attempts.
    func refuse(_ count: Int) { state.withLock { $0.refusals = count } }
    func skew(by skew: Duration) { state.withLock { $0.skew = skew } }

    func change(_ change: (inout ScriptedSession.Content) -> Void) {
        state.withLock { state in
            if let session = state.session { session.change(change) } else { change(&state.content) }
        }
    }

    private func connect() -> (Opening, ScriptedSession) {
        state.withLock { state in
            var opening = state.openings.isEmpty ? Opening.open : state.openings.removeFirst()
            if state.refusals > 0 {
                state.refusals -= 1
                opening = .refuse
            }
            if let old = state.session {
                state.content = old.content
                state.calls += old.calls
            }
            let now = environment.gatewayClock.now
            let session = ScriptedSession(
                DeviceDescription(
                    identity: DeviceIdentity(model: "Scripted"), capabilities: capabilities,
                    clock: DeviceClock(now: now + state.skew, utcOffset: 0)),
                content: state.content, clock: environment.gatewayClock)
            session.behave(state.behaviour)
            state.session = session
            return (opening, session)
        }
    }

    private func withSession(
        _ body: @escaping @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        let (opening, session) = connect()
        switch opening {
        case .refuse: throw DeviceError(.disconnected, "It is offline.")
        case .hang: try await environment.gatewayClock.sleep(for: .days(10_000))
        case .open: break
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await session.run() }
            defer { group.cancelAll() }
            try await body(session)
        }
    }

    // MARK: - The agent

    func makeAgent() -> DeviceAgent {
        var logger = log.logger
        logger.logLevel = logLevel
        return DeviceAgent(
            info: DeviceInfo(id: Fixture.device, name: "Band", people: people, driver: "scripted"), policy: policy,
            store: store.store,
            output: DeviceOutput(
                state: { [events] _, state in events.append(.state(state)) },
                answer: { [events] key, answer in
                    // Like a store that is called from a cancelled task.
                    guard !Task.isCancelled else { return }
                    events.append(.answer(key, answer))
                }),
            clock: environment.gatewayClock, timers: timers, window: window, logger: logger,
            generator: environment.random(),
            presence: presence, opener: { body in try await self.withSession(body) })
    }

    /// Runs an agent until it ends, with its timers.
    func run(_ agent: DeviceAgent) async {
        _ = await race(against: { await agent.run() }) { [timers] in await timers.run() }
    }

    /// Runs an agent during `body`, stops it, and checks that every command had one final answer.
    func run(_ body: @escaping @Sendable (DeviceAgent) async throws -> Void) async throws {
        let agent = makeAgent()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.run(agent) }
            do { try await body(agent) } catch {
                agent.stop()
                throw error
            }
            let stopped = environment.uptime
            agent.stop()
            try await group.waitForAll()
            #expect(environment.uptime - stopped <= .seconds(5))
        }
        for key in state.withLock({ $0.submitted }) {
            #expect(finals(key).count == 1, "\(key): \(finals(key)), seed \(environment.seed)")
        }
    }

    /// Submits a command.
    func submit(
        _ command: DeviceCommand, _ key: String, to agent: DeviceAgent, expiresIn: Duration? = nil
    ) async {
        state.withLock { _ = $0.submitted.insert(key) }
        await agent.submit(
            CommandItem(
                command: command, key: key, expiresAt: expiresIn.map { environment.gatewayClock.now + $0 }, name: key))
    }

    /// Submits a command and waits for its final answer.
    func ask(
        _ command: DeviceCommand, _ key: String, of agent: DeviceAgent, expiresIn: Duration? = nil
    ) async throws -> Answer {
        await submit(command, key, to: agent, expiresIn: expiresIn)
        return try await answer(key)
    }

    func answer(_ key: String) async throws -> Answer {
        try await events.wait { events in events.contains { $0.isFinal(of: key) } }
        return try #require(finals(key).first)
    }

    func finals(_ key: String) -> [Answer] {
        events.elements.compactMap {
            if case .answer(key, let answer) = $0, answer.status != .accepted { answer } else { nil }
        }
    }

    // MARK: - What it published

    var states: [DeviceState] {
        events.elements.compactMap { if case .state(let state) = $0 { state } else { nil } }
    }

    /// Waits for a state published after the first `count` events.
    @discardableResult
    func wait(after count: Int = 0, for condition: @escaping @Sendable (DeviceState) -> Bool) async throws
        -> DeviceState
    {
        @Sendable func first(_ events: [Event]) -> DeviceState? {
            for case .state(let state) in events.dropFirst(count) where condition(state) { return state }
            return nil
        }
        return try #require(first(try await events.wait { first($0) != nil }))
    }

    /// Waits until a synchronisation has ended.
    @discardableResult
    func waitForSync(after count: Int = 0, job: String? = nil) async throws -> SyncState {
        let state = try await wait(after: count) { state in
            guard case .sync(let sync) = state, sync.phase != .syncing, sync.startedAt != nil else { return false }
            return job == nil || sync.job == job
        }
        guard case .sync(let sync) = state else { throw CancellationError() }
        return sync
    }

    func waitForLink(_ phase: LinkState.Phase, after count: Int = 0) async throws {
        try await wait(after: count) { $0.asLink?.phase == phase }
    }

    var latest: [LatestState] { states.compactMap(\.asLatest) }
    var levels: [AlertLevel] { states.compactMap(\.asLevel) }
    var count: Int { events.elements.count }

    /// The days that the store has published, in order.
    var days: [DayRecord] { store.facts.compactMap(\.asDay) }
    /// What the store has published as lost, in order.
    var gaps: [Gap] { store.facts.compactMap(\.asGap) }
    /// The running days that were shown, in order.
    var runningDays: [DayRecord] { states.compactMap(\.asToday) }
}

extension AgentRig.Event {
    func isFinal(of key: String) -> Bool {
        if case .answer(key, let answer) = self { answer.status != .accepted } else { false }
    }
}

extension Answer {
    /// How many new and how many known records a synchronisation brought.
    var brought: [Int]? {
        if case .sync(let state) = data { [state.samplesNew, state.samplesKnown] } else { nil }
    }
}
