import Engines
import GatewayKit
import GatewayTesting
import Logging
import TestSupport
import Testing
import Vitals

@Suite struct AgentSyncTests {
    private static let history: [Metric: [Sample]] = [
        .heartRate: (1...40).map { Fixture.heartRate(60, at: -$0 * 10) },
        .steps: (1...40).map { Fixture.steps(100, at: -$0 * 20) },
    ]

    private static let samples = history.values.reduce(0) { $0 + $1.count }

    @Test(arguments: 0..<40) func `a device that is lost at any call of a sync is read on, and everything arrives once`(
        seed: UInt64
    ) throws {
        try Simulation.run(seed: seed, start: Fixture.noon, deadline: .hours(4)) { environment in
            let rig = AgentRig(
                environment, content: .init(history: Self.history, pageLimit: 6, forgetsAcknowledged: seed % 2 == 0))
            var random = environment.random()
            let calls = Int.random(in: 1...30, using: &random)
            try await rig.run { agent in
                try await rig.waitForLink(.connected)
                while rig.calls.count < calls, rig.states.allSatisfy({ $0.part != .sync || !Self.isDone($0) }) {
                    try await environment.gatewayClock.sleep(for: .milliseconds(1))
                }
                rig.session?.disconnect()
                await rig.submit(.sync(metrics: [], from: nil, to: nil), "s", to: agent)
                try await rig.wait { Self.isDone($0) }
                while try await rig.store.samples(of: Fixture.device).count < Self.samples {
                    try await environment.gatewayClock.sleep(for: .seconds(1))
                }
            }
            let facts = rig.store.facts.compactMap(\.asMeasurement).flatMap(\.samples).map(\.id)
            #expect(facts.count == Self.samples)
            #expect(Set(facts).count == Self.samples)
        }
    }

    private static func isDone(_ state: DeviceState) -> Bool {
        state.asSync.map { $0.phase == .idle && $0.startedAt != nil } == true
    }

    @Test(arguments: [true, false]) func `the log has a synchronisation that read something at info, another at debug`(
        hasHistory: Bool
    ) throws {
        try Simulation.run(seed: 1, start: Fixture.noon, deadline: .hours(4)) { environment in
            let rig = AgentRig(environment, content: .init(history: hasHistory ? Self.history : [:]), logLevel: .debug)
            try await rig.run { _ in
                let lines = try await rig.log.wait { $0.contains { $0.message == "A synchronisation ended." } }
                let line = try #require(lines.first { $0.message == "A synchronisation ended." })
                #expect(line.level == (hasHistory ? Logger.Level.info : .debug))
            }
        }
    }

    @Test func `reads again by the schedule, and a commanded metric does not put that off`() throws {
        try AgentRig.synced(0..<5) { rig, agent in
            for minute in 0..<4 {
                try await rig.sleep(for: .minutes(4))
                let answer = try await rig.ask(
                    .sync(metrics: [.heartRate], from: nil, to: nil), "s\(minute)", of: agent)
                #expect(answer.status == .done)
            }
            try await rig.waitForSync(job: "schedule")
            #expect(rig.uptime < .minutes(17))
        }
    }

    @Test func `a clock that is set back does not stop the schedule`() throws {
        try AgentRig.synced(0..<5) { rig, _ in
            rig.environment.jumpDate(by: .days(-1))
            try await rig.waitForSync(job: "schedule")
            #expect(rig.uptime < .minutes(16))
        }
    }

    @Test func `a schedule that was due during an absence does not replace the connection's own sync`() throws {
        // The sync begins later than the agent's tick.
        try AgentRig.running(
            given: { rig in
                rig.behave(.delay(.seconds(8)), on: .setClock)
                rig.skew(by: .minutes(1))
            }
        ) { rig, _ in
            try await rig.waitForSync(job: "connect")
            // Offline for longer than a quarter of an hour.
            rig.refuse(12)
            rig.session?.disconnect()
            let count = rig.count
            #expect(try await rig.waitForSync(after: count).job == "connect")
            #expect(rig.uptime > .minutes(15))
        }
    }

    @Test func `a gateway's sync reads everything of a device that is connected`() throws {
        try AgentRig.synced { rig, agent in
            let answer = await agent.synchronise()
            #expect(answer.status == .done)
            #expect(try await rig.waitForSync(job: "gateway").metricsTotal == 3)
            let state = try #require(answer.asSync, "\(answer)")
            #expect(state.rows.map(\.state) == [.done, .done, .done])
            rig.open(.hang)
            rig.session?.disconnect()
            try await rig.waitForLink(.waiting)
            #expect(await agent.synchronise().code == .offline)
        }
    }

    @Test func `a sync of some metrics answers with what failed and what succeeded`() throws {
        try AgentRig.synced(0..<5, content: .init(history: Self.history)) { rig, agent in
            rig.change { $0.history[.heartRate]?.append(Fixture.heartRate(61, at: 0)) }
            rig.behave { call in
                if case .history(let request) = call, request.metric == .steps {
                    .fail(DeviceError(.failure, "flash error"))
                } else {
                    .answer
                }
            }
            let answer = try await rig.ask(
                .sync(metrics: [.steps, .heartRate, .steps], from: nil, to: nil), "s", of: agent)
            #expect(answer.status == .failed)
            #expect(answer.code == .deviceError)
            let state = try #require(answer.asSync, "\(answer)")
            #expect(state.samplesNew == 1)
            #expect(state.rows.map(\.metric) == [.heartRate, .steps])
            #expect(state.rows.map(\.state) == [.done, .failed])
            #expect(state.error == "steps: flash error")
            let some = try await rig.ask(.sync(metrics: [.sleep, .heartRate], from: nil, to: nil), "t", of: agent)
            #expect(some.status == .done)
            let rest = try #require(some.asSync, "\(some)")
            #expect(rest.rows.map(\.state) == [.done, .unsupported])
        }
    }

    @Test func `the newest sample of a sync is published once, at its end`() throws {
        try AgentRig.everyOrder { environment in
            let rig = AgentRig(
                environment,
                content: .init(history: [.heartRate: (0..<60).map { Fixture.heartRate(60, at: -$0) }], pageLimit: 1))
            rig.behave(.delay(.seconds(1)), on: .history)
            try await rig.run { _ in try await rig.waitForSync() }
            #expect(rig.latest.map(\.stored.sample.start) == [Fixture.noon])
            let progress = rig.states.filter { $0.part == .sync }.count
            #expect(progress > 10 && progress < 40)
        }
    }

    @Test func `a full disk fails the metric and loses nothing`() throws {
        try AgentRig.running(
            content: .init(history: Self.history, forgetsAcknowledged: true),
            given: { $0.store.fail { $0 == .ingest ? StoreError(.full, "full") : nil } }
        ) { rig, agent in
            let sync = try await rig.waitForSync()
            #expect(sync.failed.count == 2 || sync.failed.count == 3)
            #expect(!rig.calls.contains { $0.kind == .acknowledgeHistory })
            rig.store.fail(nil)
            #expect(try await rig.ask(.sync(metrics: [], from: nil, to: nil), "s", of: agent).status == .done)
        } then: { rig in
            let value = try await rig.store.samples(of: Fixture.device).count
            #expect(value == Self.samples)
        }
    }

    @Test func `a session that hangs in a read is lost and opened again`() throws {
        try AgentRig.running(
            0..<5, content: .init(history: Self.history), given: { $0.behave(.hang, on: .history) }
        ) { rig, _ in
            let failed = try await rig.waitForSync()
            #expect(failed.phase == .failed)
            rig.behave { _ in .answer }
            try await rig.wait { Self.isDone($0) }
        } then: { rig in
            let value = try await rig.store.samples(of: Fixture.device).count
            #expect(value == Self.samples)
        }
    }

    @Test func `reads only what the device keeps a history of, and says how many that are`() throws {
        try AgentRig.running(
            0..<3,
            capabilities: Capabilities([
                .heartRate: [.measure, .history], .stress: [.measure, .monitor], .sleep: [.history],
            ])
        ) { rig, _ in
            let sync = try await rig.waitForSync()
            #expect((sync.metricsDone, sync.metricsTotal) == (2, 2))
            #expect(sync.failed == [])
        } then: { rig in
            let read = rig.calls.compactMap { $0.asHistory?.metric }
            #expect(read == [.heartRate, .sleep])
        }
    }

    @Test func `what is lost with a device that was offline longer than it keeps its history is reported, once`()
        throws
    {
        let capabilities = Capabilities([.heartRate: [.history]], maximumHistoryDays: 1)
        try AgentRig.running(0..<5, deadline: .days(30), capabilities: capabilities) { rig, agent in
            let before = try #require(try await rig.waitForSync().lastSuccessAt)
            // A moment at which no scheduled synchronisation starts.
            try await rig.sleep(for: .minutes(50))
            #expect(rig.gaps == [])
            let successes = rig.states.compactMap { $0.asSync?.lastSuccessAt }
            let last = try #require(successes.last)
            #expect(last > before)
            rig.open(.hang)
            rig.session?.disconnect()
            try await rig.sleep(for: .days(2))
            let count = rig.count
            rig.behave(.fail(DeviceError(.failure, "Not now.")), on: .history)
            _ = try await rig.ask(.reconnect, "r", of: agent)
            #expect(try await rig.waitForSync(after: count, job: "connect").phase == .failed)
            let now = rig.environment.gatewayClock.now
            let gap = try #require(rig.gaps.first)
            #expect((gap.metric, gap.from, gap.count) == (nil, last, nil))
            #expect(gap.reason == .device)
            #expect(try #require(gap.to) <= now - .days(1) && #require(gap.to) > now - .days(1) - .minutes(1))
            rig.behave { _ in .answer }
            _ = try await rig.ask(.sync(metrics: [], from: nil, to: nil), "s", of: agent)
            try await rig.sleep(for: .hours(1))
            #expect(rig.gaps == [gap])
        }
    }

    @Test func `a device that says it keeps its history for ever is read like one that says nothing`() throws {
        try AgentRig.everyOrder(0..<2) { environment in
            // The greatest number on a link, and the greatest integer.
            let days = environment.seed == 0 ? 1 << 53 : Int.max
            let capabilities = Capabilities([.heartRate: [.history]], maximumHistoryDays: days)
            let rig = AgentRig(environment, capabilities: capabilities)
            try await rig.run { _ in
                #expect(try await rig.waitForSync().phase == .idle)
                let read = rig.calls.compactMap { $0.asHistory?.from }
                #expect(read == [Fixture.noon - .days(30)])
                try await rig.waitForSync(job: "schedule")
                #expect(rig.gaps == [])
            }
        }
    }

    @Test(arguments: [0, 1]) func `a device that is there loses nothing, whatever it keeps or fails to report`(
        days: Int
    ) throws {
        let capabilities = Capabilities([.heartRate: [.history], .steps: [.history]], maximumHistoryDays: days)
        try AgentRig.synced(
            0..<3, deadline: .days(30), capabilities: capabilities,
            given: { rig in
                rig.behave { call in
                    guard case .history(let request) = call, request.metric == .steps else { return .answer }
                    return .fail(DeviceError(.failure, "Never."))
                }
            }
        ) { rig, _ in
            try await rig.sleep(for: .days(2))
            #expect(rig.gaps == [])
        }
    }
}
