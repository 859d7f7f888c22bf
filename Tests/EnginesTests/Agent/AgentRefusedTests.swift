import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// Live samples that cannot be true.
@Suite struct AgentRefusedTests {
    private static func beats(_ values: [Double], at minute: Int) -> DeviceEvent {
        .samples(values.map { Fixture.heartRate($0, at: minute) }, receipts: [])
    }

    @Test func `are published as a gap by their reasons, once a minute at most and again at the end`() throws {
        try AgentRig.synced(0..<5) { rig, _ in
            await rig.session?.send(Self.beats([900, 901, 60], at: 0), Self.beats([61], at: 600))
            while rig.gaps.isEmpty { try await rig.sleep(for: .milliseconds(100)) }
            for _ in 0..<3 {
                await rig.session?.send(Self.beats([902], at: 0))
                try await rig.sleep(for: .seconds(10))
            }
            #expect(rig.gaps.count == 1)
            try await rig.sleep(for: InputLog.reportInterval)
            #expect(rig.gaps.count == 2)
            await rig.session?.send(Self.beats([903], at: 0))
            try await rig.sleep(for: .seconds(1))
        } then: { rig in
            let gaps = rig.gaps
            #expect(gaps.map(\.refused) == [[.outOfRange: 2, .future: 1], [.outOfRange: 3], [.outOfRange: 1]])
            #expect(gaps.allSatisfy { $0.reason == .refused && $0.metric == .heartRate })
            let value = try await rig.store.samples(of: Fixture.device).count
            #expect(value == 1)
        }
    }

    @Test func `are counted also when they cannot be read, in their measurement as well`() throws {
        try AgentRig.synced(
            0..<5, content: .init(measurements: [.heartRate: .init(readings: [], end: (.seconds(41), nil))])
        ) { rig, agent in
            await rig.submit(.measure(.heartRate, duration: .seconds(60)), "m", to: agent)
            try await rig.wait { $0.asMeasure?.phase == .measuring }
            await rig.session?.send(
                .unreadable(UnreadableSample(metric: .stress, start: Fixture.minute(-1), problem: "no value")),
                .unreadable(UnreadableSample(measurement: MeasurementID("m1"), problem: "no metric")),
                .unreadable(UnreadableSample(problem: "nothing")))
            let answer = try await rig.answer("m")
            #expect(answer.status == .failed)
            #expect(answer.message?.contains("one reading") == true)
        } then: { rig in
            let gaps = rig.gaps
            #expect(gaps.map(\.metric) == [.heartRate, .stress])
            #expect(gaps.allSatisfy { $0.refused == [.malformed: 1] })
        }
    }
}
