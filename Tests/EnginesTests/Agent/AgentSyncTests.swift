import Engines
import GatewayKit
import GatewayTesting
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
            let facts = rig.store.facts.flatMap { fact -> [SampleID] in
                if case .measurement(let measurement) = fact.content { measurement.samples.map(\.id) } else { [] }
            }
            #expect(facts.count == Self.samples)
            #expect(Set(facts).count == Self.samples)
        }
    }

    private static func isDone(_ state: DeviceState) -> Bool {
        if case .sync(let sync) = state { sync.phase == .idle && sync.startedAt != nil } else { false }
    }

    @Test func `reads again by the schedule, and a commanded metric does not put that off`() throws {
        try AgentRig.everyOrder(0..<5) { environment in
            let rig = AgentRig(environment)
            try await rig.run { agent in
                try await rig.waitForSync()
                for minute in 0..<4 {
                    try await environment.gatewayClock.sleep(for: .minutes(4))
                    let answer = try await rig.ask(
                        .sync(metrics: [.heartRate], from: nil, to: nil), "s\(minute)", of: agent)
                    #expect(answer.status == .done)
                }
                try await rig.waitForSync(job: "schedule")
                #expect(environment.uptime < .minutes(17))
            }
        }
    }

    @Test func `a clock that is set back does not stop the schedule`() throws {
        try AgentRig.everyOrder(0..<5) { environment in
            let rig = AgentRig(environment)
            try await rig.run { _ in
                try await rig.waitForSync()
                environment.jumpDate(by: .days(-1))
                try await rig.waitForSync(job: "schedule")
                #expect(environment.uptime < .minutes(16))
            }
        }
    }

    @Test func `a schedule that was due during an absence does not replace the connection's own sync`() throws {
        try AgentRig.everyOrder { environment in
            let rig = AgentRig(environment)
            // The sync begins later than the agent's tick.
            rig.behave { if case .setClock = $0 { .delay(.seconds(8)) } else { .answer } }
            rig.skew(by: .minutes(1))
            try await rig.run { _ in
                try await rig.waitForSync(job: "connect")
                // Offline for longer than a quarter of an hour.
                rig.refuse(12)
                rig.session?.disconnect()
                let count = rig.count
                #expect(try await rig.waitForSync(after: count).job == "connect")
                #expect(environment.uptime > .minutes(15))
            }
        }
    }

    @Test func `a gateway's sync reads everything of a device that is connected`() throws {
        try AgentRig.everyOrder { environment in
            let rig = AgentRig(environment)
            try await rig.run { agent in
                try await rig.waitForSync()
                let answer = await agent.synchronise()
                #expect(answer.status == .done)
                #expect(try await rig.waitForSync(job: "gateway").metricsTotal == 3)
                guard case .sync(let state) = answer.data else {
                    Issue.record("\(answer)")
                    return
                }
                #expect(state.rows.map(\.state) == [.done, .done, .done])
                rig.open(.hang)
                rig.session?.disconnect()
                try await rig.waitForLink(.waiting)
                #expect(await agent.synchronise().code == .offline)
            }
        }
    }

    @Test func `a sync of some metrics answers with what failed and what succeeded`() throws {
        try AgentRig.everyOrder(0..<5) { environment in
            let rig = AgentRig(environment, content: .init(history: Self.history))
            try await rig.run { agent in
                try await rig.waitForSync()
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
                guard case .sync(let state) = answer.data else {
                    Issue.record("no data")
                    return
                }
                #expect(state.samplesNew == 1)
                #expect(state.rows.map(\.metric) == [.heartRate, .steps])
                #expect(state.rows.map(\.state) == [.done, .failed])
                #expect(state.error == "steps: flash error")
                let some = try await rig.ask(.sync(metrics: [.sleep, .heartRate], from: nil, to: nil), "t", of: agent)
                #expect(some.status == .done)
                guard case .sync(let rest) = some.data else {
                    Issue.record("no data")
                    return
                }
                #expect(rest.rows.map(\.state) == [.done, .unsupported])
            }
        }
    }

    @Test func `the newest sample of a sync is published once, at its end`() throws {
        try AgentRig.everyOrder { environment in
            let rig = AgentRig(
                environment,
                content: .init(history: [.heartRate: (0..<60).map { Fixture.heartRate(60, at: -$0) }], pageLimit: 1))
            rig.behave { if case .history = $0 { .delay(.seconds(1)) } else { .answer } }
            try await rig.run { _ in try await rig.waitForSync() }
            #expect(rig.latest.map(\.stored.sample.start) == [Fixture.noon])
            let progress = rig.states.filter { $0.part == .sync }.count
            #expect(progress > 10 && progress < 40)
        }
    }

    @Test func `a full disk fails the metric and loses nothing`() throws {
        try AgentRig.everyOrder { environment in
            let rig = AgentRig(environment, content: .init(history: Self.history, forgetsAcknowledged: true))
            rig.store.fail { $0 == .ingest ? StoreError(.full, "full") : nil }
            try await rig.run { agent in
                let sync = try await rig.waitForSync()
                #expect(sync.failed.count == 2 || sync.failed.count == 3)
                #expect(!rig.calls.contains { if case .acknowledgeHistory = $0 { true } else { false } })
                rig.store.fail(nil)
                #expect(try await rig.ask(.sync(metrics: [], from: nil, to: nil), "s", of: agent).status == .done)
            }
            #expect(try await rig.store.samples(of: Fixture.device).count == Self.samples)
        }
    }

    @Test func `a session that hangs in a read is lost and opened again`() throws {
        try AgentRig.everyOrder(0..<5) { environment in
            let rig = AgentRig(environment, content: .init(history: Self.history))
            rig.behave { if case .history = $0 { .hang } else { .answer } }
            try await rig.run { _ in
                let failed = try await rig.waitForSync()
                #expect(failed.phase == .failed)
                rig.behave { _ in .answer }
                try await rig.wait { Self.isDone($0) }
            }
            #expect(try await rig.store.samples(of: Fixture.device).count == Self.samples)
        }
    }

    @Test func `reads only what the device keeps a history of, and says how many that are`() throws {
        try AgentRig.everyOrder(0..<3) { environment in
            let rig = AgentRig(
                environment,
                capabilities: Capabilities([
                    .heartRate: [.measure, .history], .stress: [.measure, .monitor], .sleep: [.history],
                ]))
            try await rig.run { _ in
                let sync = try await rig.waitForSync()
                #expect((sync.metricsDone, sync.metricsTotal) == (2, 2))
                #expect(sync.failed == [])
            }
            let read = rig.calls.compactMap { if case .history(let request) = $0 { request.metric } else { nil } }
            #expect(read == [.heartRate, .sleep])
        }
    }

    @Test func `what is lost with a device that was offline longer than it keeps its history is reported, once`()
        throws
    {
        try AgentRig.everyOrder(0..<5, deadline: .days(30)) { environment in
            let capabilities = Capabilities([.heartRate: [.history]], maximumHistoryDays: 1)
            let rig = AgentRig(environment, capabilities: capabilities)
            try await rig.run { agent in
                let before = try #require(try await rig.waitForSync().lastSuccessAt)
                // A moment at which no scheduled synchronisation starts.
                try await environment.gatewayClock.sleep(for: .minutes(50))
                #expect(gaps(rig) == [])
                let last = try #require(
                    rig.states.compactMap { if case .sync(let sync) = $0 { sync.lastSuccessAt } else { nil } }.last)
                #expect(last > before)
                rig.open(.hang)
                rig.session?.disconnect()
                try await environment.gatewayClock.sleep(for: .days(2))
                let count = rig.count
                rig.behave { if case .history = $0 { .fail(DeviceError(.failure, "Not now.")) } else { .answer } }
                _ = try await rig.ask(.reconnect, "r", of: agent)
                #expect(try await rig.waitForSync(after: count, job: "connect").phase == .failed)
                let now = environment.gatewayClock.now
                let gap = try #require(gaps(rig).first)
                #expect((gap.metric, gap.from, gap.count) == (nil, last, nil))
                #expect(gap.reason == .device)
                #expect(try #require(gap.to) <= now - .days(1) && #require(gap.to) > now - .days(1) - .minutes(1))
                rig.behave { _ in .answer }
                _ = try await rig.ask(.sync(metrics: [], from: nil, to: nil), "s", of: agent)
                try await environment.gatewayClock.sleep(for: .hours(1))
                #expect(gaps(rig) == [gap])
            }
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
                let read = rig.calls.compactMap { if case .history(let request) = $0 { request.from } else { nil } }
                #expect(read == [Fixture.noon - .days(30)])
                try await rig.waitForSync(job: "schedule")
                #expect(gaps(rig) == [])
            }
        }
    }

    @Test(arguments: [0, 1]) func `a device that is there loses nothing, whatever it keeps or fails to report`(
        days: Int
    ) throws {
        try AgentRig.everyOrder(0..<3, deadline: .days(30)) { environment in
            let capabilities = Capabilities(
                [.heartRate: [.history], .steps: [.history]], maximumHistoryDays: days)
            let rig = AgentRig(environment, capabilities: capabilities)
            rig.behave { call in
                guard case .history(let request) = call, request.metric == .steps else { return .answer }
                return .fail(DeviceError(.failure, "Never."))
            }
            try await rig.run { _ in
                try await rig.waitForSync()
                try await environment.gatewayClock.sleep(for: .days(2))
                #expect(gaps(rig) == [])
            }
        }
    }

    private func gaps(_ rig: AgentRig) -> [Gap] {
        rig.store.facts.compactMap { if case .gap(let gap) = $0.content { gap } else { nil } }
    }
}
