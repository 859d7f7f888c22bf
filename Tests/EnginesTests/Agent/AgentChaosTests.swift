import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// Random simultaneous events: the rig checks that each command has exactly one final answer and that stopping is
/// quick.
@Suite struct AgentChaosTests {
    private static let capabilities = Capabilities([
        .heartRate: [.measure, .history], .steps: [.history, .summary],
        .bloodOxygen: [.monitor, .measure, .scheduleTime, .scheduleInterval, .history],
    ])

    private static func command(_ random: inout SplitMix64, at now: Timestamp) -> DeviceCommand {
        let metric = [Metric.heartRate, .steps, .bloodOxygen, .sleep].randomElement(using: &random) ?? .heartRate
        let day = Fixture.utc.day(of: now)
        let from = Bool.random(using: &random) ? now - .hours(3) : nil
        let start = MonitorSetting(.bloodOxygen, .scheduleStart)
        return switch Int.random(in: 0..<10, using: &random) {
        case 0: .sync(metrics: Bool.random(using: &random) ? [] : [metric], from: from, to: nil)
        case 1: .measure(metric, duration: .seconds(Int.random(in: 5...60, using: &random)))
        case 2: .stopMeasuring(Bool.random(using: &random) ? nil : metric)
        case 3: .fetch(metrics: [])
        case 4: .history(metric, from: from, to: nil, limit: 5, page: nil, syncsFirst: Bool.random(using: &random))
        case 5: .daily(metric, from: day, to: day, syncsFirst: Bool.random(using: &random))
        case 6: .time
        case 7: .reconnect
        case 8: .acknowledge(SampleID(high: 8, low: 8), by: "anna")
        default:
            .configure(
                MonitorPatch([start: .number(Double(Int.random(in: 0...1440, using: &random)))]), ifVersion: nil,
                adopts: Bool.random(using: &random))
        }
    }

    private static func behaviour(
        _ seed: UInt64
    ) -> @Sendable (ScriptedSession.Call) -> ScriptedSession.Behaviour {
        { call in
            // Uses the call's text, since a hash differs between processes.
            let mark = "\(call)".utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
            var random = SplitMix64(seed: mark)
            return switch Int.random(in: 0..<12, using: &random) {
            case 0: .hang
            case 1: .fail(DeviceError(.failure, "It failed."))
            case 2...5: .delay(.milliseconds(Int.random(in: 1...3_000, using: &random)))
            default: .answer
            }
        }
    }

    @Test(arguments: 0..<100) func `whatever happens, everything is answered once and nothing is lost`(
        seed: UInt64
    ) throws {
        try Simulation.run(seed: seed, start: Fixture.noon, deadline: .days(2)) { environment in
            let rig = AgentRig(
                environment, capabilities: Self.capabilities,
                content: .init(
                    history: [.heartRate: (1...50).map { Fixture.heartRate(60, at: -$0) }], pageLimit: 8,
                    forgetsAcknowledged: seed % 2 == 0))
            var random = environment.random()
            for run in 0..<3 {
                let (steps, choices) = (Int.random(in: 0...40, using: &random), random.split())
                try await rig.run { agent in
                    var random = choices
                    for step in 0..<steps {
                        try await Self.happen(&random, rig, agent, "\(run).\(step)")
                        try await environment.gatewayClock.sleep(
                            for: .milliseconds(Int.random(in: 0...20_000, using: &random)))
                    }
                    rig.store.fail(nil)
                }
            }
            rig.behave { _ in .answer }
            rig.open()
            let jumped = environment.date - Fixture.noon - environment.uptime
            environment.jumpDate(by: .zero - jumped)
            try await rig.run { agent in
                try await rig.waitForSync(after: rig.count)
                let answer = try await rig.ask(
                    .sync(metrics: [], from: Fixture.noon - .days(1), to: nil), "end", of: agent)
                #expect(answer.status == .done)
            }
            let kept = Set(try await rig.store.samples(of: Fixture.device).map(\.sample.start))
            #expect(kept.isSuperset(of: (1...50).map { Fixture.minute(-$0) }), "seed \(seed)")
            try await Self.checkFacts(of: rig)
        }
    }

    private static func happen(
        _ random: inout SplitMix64, _ rig: AgentRig, _ agent: DeviceAgent, _ name: String
    ) async throws {
        let now = rig.environment.gatewayClock.now
        switch Int.random(in: 0..<20, using: &random) {
        case 0...9:
            let expiry: Duration? = Bool.random(using: &random) ? .seconds(Int.random(in: 0...90, using: &random)) : nil
            await rig.submit(command(&random, at: now), "c\(name)", to: agent, expiresIn: expiry)
        case 10, 11:
            let sample = Sample(
                metric: .heartRate, start: now, reading: .value(Double.random(in: 40...160, using: &random)))
            // The inbox has room, so this does not wait for a session that is over.
            await rig.session?.send(.samples([sample], receipts: [SampleReceipt(name)]))
        case 12: rig.session?.disconnect()
        case 13: rig.open([AgentRig.Opening.refuse, .hang, .open].randomElement(using: &random) ?? .open)
        case 14: rig.behave(behaviour(random.next()))
        case 15: rig.behave { _ in .answer }
        case 16:
            let failing = [FaultyStore.Call.ingest, .save, .settle, .samples].randomElement(using: &random) ?? .ingest
            rig.store.fail { $0 == failing ? StoreError(.full, "The disk is full.") : nil }
        case 17: rig.store.fail(nil)
        case 18: rig.environment.jumpDate(by: .seconds(Int.random(in: -7_200...7_200, using: &random)))
        default: _ = await agent.synchronise()
        }
    }

    /// Checks that every stored sample is in a fact, and that the revisions of each sample's facts rise.
    private static func checkFacts(of rig: AgentRig) async throws {
        var revisions: [SampleID: Int] = [:]
        for fact in rig.store.facts {
            guard case .measurement(let measurement) = fact.content else { continue }
            #expect(measurement.samples.count <= Fact.Measurement.maximumSamples)
            for stored in measurement.samples {
                #expect(revisions[stored.id] ?? 0 < stored.revision)
                revisions[stored.id] = stored.revision
            }
        }
        for stored in try await rig.store.samples(of: Fixture.device) {
            #expect(revisions[stored.id] == stored.revision)
        }
    }
}
