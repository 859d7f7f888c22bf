import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// Live samples that cannot be true.
@Suite struct AgentRefusedTests {
    private static func gaps(_ rig: AgentRig) -> [Gap] {
        rig.store.facts.compactMap { if case .gap(let gap) = $0.content { gap } else { nil } }
    }

    private static func beats(_ values: [Double], at minute: Int) -> DeviceEvent {
        .samples(values.map { Fixture.heartRate($0, at: minute) }, receipts: [])
    }

    @Test func `are published as a gap by their reasons, once a minute at most and again at the end`() throws {
        try AgentRig.everyOrder(0..<5) { environment in
            let rig = AgentRig(environment)
            try await rig.run { _ in
                try await rig.waitForSync()
                await rig.session?.send(Self.beats([900, 901, 60], at: 0), Self.beats([61], at: 600))
                while Self.gaps(rig).isEmpty { try await environment.gatewayClock.sleep(for: .milliseconds(100)) }
                for _ in 0..<3 {
                    await rig.session?.send(Self.beats([902], at: 0))
                    try await environment.gatewayClock.sleep(for: .seconds(10))
                }
                #expect(Self.gaps(rig).count == 1)
                try await environment.gatewayClock.sleep(for: InputLog.reportInterval)
                #expect(Self.gaps(rig).count == 2)
                await rig.session?.send(Self.beats([903], at: 0))
                try await environment.gatewayClock.sleep(for: .seconds(1))
            }
            let gaps = Self.gaps(rig)
            #expect(gaps.map(\.refused) == [[.outOfRange: 2, .future: 1], [.outOfRange: 3], [.outOfRange: 1]])
            #expect(gaps.allSatisfy { $0.reason == .refused && $0.metric == .heartRate })
            #expect(try await rig.store.samples(of: Fixture.device).count == 1)
        }
    }

    @Test func `are counted also when they cannot be read, in their measurement as well`() throws {
        try AgentRig.everyOrder(0..<5) { environment in
            let rig = AgentRig(
                environment, content: .init(measurements: [.heartRate: .init(readings: [], end: (.seconds(41), nil))]))
            try await rig.run { agent in
                try await rig.waitForSync()
                await rig.submit(.measure(.heartRate, duration: .seconds(60)), "m", to: agent)
                try await rig.wait { if case .measure(let state) = $0 { state.phase == .measuring } else { false } }
                await rig.session?.send(
                    .unreadable(UnreadableSample(metric: .stress, start: Fixture.minute(-1), problem: "no value")),
                    .unreadable(UnreadableSample(measurement: MeasurementID("m1"), problem: "no metric")),
                    .unreadable(UnreadableSample(problem: "nothing")))
                let answer = try await rig.answer("m")
                #expect(answer.status == .failed)
                #expect(answer.message?.contains("one reading") == true)
            }
            let gaps = Self.gaps(rig)
            #expect(gaps.map(\.metric) == [.heartRate, .stress])
            #expect(gaps.allSatisfy { $0.refused == [.malformed: 1] })
        }
    }
}
