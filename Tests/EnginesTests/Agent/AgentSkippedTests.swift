import Engines
import GatewayKit
import GatewayTesting
import Logging
import TestSupport
import Testing
import Vitals

/// Values of a person that do not become samples.
@Suite struct AgentSkippedTests {
    /// What a device sends, under which word it is counted, and what the log says of it.
    struct Case: Sendable, CustomStringConvertible {
        var event: DeviceEvent
        var reason: String
        var count = 1
        var log: [String: String]
        var description: String { reason }
    }

    private static let cases = [
        Case(
            event: .skipped(SkippedValues(reason: "too_many", what: "sleeps", count: 9, limit: 24)), reason: "too_many",
            count: 9, log: ["what": "sleeps", "count": "9", "limit": "24"]),
        Case(
            event: .malformed("a line: it is too short"), reason: "malformed",
            log: ["what": "input", "count": "1", "problem": "a line: it is too short"]),
        Case(
            event: .unreadable(UnreadableSample(metric: .stress, problem: "no value")), reason: "malformed",
            log: ["what": "stress", "count": "1"]),
        Case(
            event: .samples([Fixture.heartRate(900, at: 0)], receipts: []), reason: "out_of_range",
            log: ["what": "heart_rate", "count": "1"]),
        Case(
            event: .samples([Fixture.heartRate(60, at: 600)], receipts: []), reason: "future",
            log: ["what": "heart_rate", "count": "1"]),
        Case(
            event: .battery(percent: 900, isCharging: nil), reason: "out_of_range",
            log: ["what": "battery", "count": "1"]),
    ]

    @Test(arguments: cases) func `what is dropped is counted in the state of the device, and said at notice`(
        row: Case
    ) throws {
        try AgentRig.synced(0..<5) { rig, _ in
            await rig.session?.send(row.event)
            try await rig.wait { state in
                if case .sync(let sync) = state { sync.skipped == [row.reason: row.count] } else { false }
            }
        } then: { rig in
            let entries = rig.log.entries.filter { $0.message == "Values of the device were dropped." }
            #expect(entries.map(\.level) == [.notice])
            let metadata = entries.first?.metadata ?? [:]
            #expect(metadata["reason"] == row.reason)
            for (key, value) in row.log { #expect(metadata[key] == value, "\(key)") }
        }
    }

    @Test func `the answer to a synchronisation has what was dropped`() throws {
        try AgentRig.synced(0..<5) { rig, agent in
            await rig.session?.send(
                .skipped(SkippedValues(reason: "too_many", what: "records", count: 3, limit: 65_536)))
            try await rig.wait { state in
                if case .sync(let sync) = state { sync.skipped == ["too_many": 3] } else { false }
            }
            await rig.submit(.sync(metrics: [], from: nil, to: nil), "s", to: agent)
            guard case .sync(let state)? = try await rig.answer("s").data else {
                Issue.record("the answer has no state")
                return
            }
            #expect(state.skipped == ["too_many": 3])
        }
    }

    @Test func `a flood is logged whenever its number has doubled`() {
        var input = InputLog()
        let logged = (1...1_000).compactMap { _ in input.total(of: "malformed input", adding: 1) }
        #expect(logged == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512])
        // Another thing is counted apart, and many at once count as such.
        #expect(input.total(of: "too_many sleeps", adding: 300) == 300)
        #expect(input.total(of: "too_many sleeps", adding: 100) == nil)
        #expect(input.total(of: "too_many sleeps", adding: 200) == 600)
    }

    @Test func `further reasons than are counted apart are counted as others`() {
        var input = InputLog()
        for number in 0..<InputLog.maximumReasons + 5 { input.skip("reason_\(number)") }
        #expect(input.skipped.count == InputLog.maximumReasons + 1)
        #expect(input.skipped[InputLog.others] == 5)
    }
}
