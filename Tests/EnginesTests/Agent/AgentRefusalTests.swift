import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// A device with a history of bad records.
@Suite(.timeLimit(.minutes(3))) struct AgentRefusalTests {
    private static let pages = 500
    private static let perPage = HistoryRequest.maximumLimit

    /// A million records, of which the last is good. Every fifth page has records of another metric, or none with values.
    private static func page(_ request: HistoryRequest) -> HistoryPage {
        guard request.metric == .heartRate else { return HistoryPage(samples: []) }
        let number = request.page.flatMap { Int($0) } ?? 0
        let next = number + 1 < pages ? "\(number + 1)" : nil
        // A record a second, which ends a minute before now.
        let first = Fixture.noon - .seconds(60 + pages * perPage - number * perPage)
        func samples(_ metric: Metric, _ value: Double) -> [Sample] {
            (0..<perPage).map { Sample(metric: metric, start: first + .seconds($0), reading: .value(value)) }
        }
        switch number % 5 {
        case 1: return HistoryPage(samples: samples(.stress, 20), next: next)
        case 3: return HistoryPage(samples: [], next: next, malformed: perPage)
        default:
            var bad = samples(.heartRate, 999)
            if next == nil { bad[perPage - 1].reading = .value(60) }
            return HistoryPage(samples: bad, next: next)
        }
    }

    @Test func `a million bad records are counted, and what follows them is read`() throws {
        try Simulation.run(seed: 1, start: Fixture.noon, deadline: .hours(1)) { environment in
            var content = ScriptedSession.Content()
            content.pages = Self.page
            let rig = AgentRig(environment, capabilities: Capabilities([.heartRate: [.history]]), content: content)
            try await rig.run { agent in
                let sync = try await rig.waitForSync()
                #expect(sync.phase == .idle)
                #expect(sync.samplesNew == 1)
                let row = try #require(sync.rows.first)
                #expect(row.state == .done)
                let all = Self.pages * Self.perPage
                #expect(row.refused.count == all - 1)
                #expect(row.refused.counts == [.malformed: all / 5 * 2, .outOfRange: all / 5 * 3 - 1])
                let record = try await rig.store.base.load(Fixture.device)
                #expect(record.cursors[.heartRate] == Fixture.noon - .seconds(61))

                // One gap announces all of them, and the next synchronisation neither reads nor announces them again.
                let count = rig.count
                _ = try await rig.ask(.sync(metrics: [], from: nil, to: nil), "again", of: agent)
                try await rig.waitForSync(after: count)
            }
            #expect(rig.gaps.first?.count == Self.pages * Self.perPage - 1)
            let reads = rig.calls.compactMap { $0.asHistory?.from }
            #expect((reads.last ?? Fixture.noon) > (reads.first ?? Fixture.noon))
        }
    }
}
