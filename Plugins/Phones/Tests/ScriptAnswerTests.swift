import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Phones

/// What a script is told of each entry of its documents.
@Suite struct ScriptAnswerTests {
    private typealias Entry = DocumentReport.Entry

    /// Runs a session in simulated time.
    private func withSession(
        metrics: [Metric] = ScriptDocument.metrics,
        _ body: @escaping @Sendable (any DeviceSession, ScriptedDocuments, GatewayClock) async throws -> Void
    ) throws {
        try Simulation.run(seed: 1, deadline: .days(1)) { simulation in
            let documents = ScriptedDocuments()
            try await PhoneDriver<ScriptDocument>(metrics: metrics).withSession(
                over: .documents(documents), context: Phone.context(clock: simulation.gatewayClock)
            ) { session in try await body(session, documents, simulation.gatewayClock) }
        }
    }

    private static func report(_ answer: DocumentAnswer) throws -> DocumentReport {
        guard case .stored(let report) = answer else { throw DeviceError(.failure, "\(answer)") }
        return report
    }

    @Test func `the answer says of each entry what became of it, in their order`() throws {
        let weights = (0..<6).map {
            #"{"metric":"weight","value":\#($0 == 3 ? 900 : 70),"time":\#(1_700_000_000 + $0)}"#
        }
        let bad = #"{"metric":"weight","value":70,"unit":"stones","time":1700000000}"#
        let mood = #"{"metric":"stress","value":7,"time":1700000000}"#
        let list = ([bad] + weights + [mood]).joined(separator: ",")
        try withSession(metrics: [.weight]) { session, documents, _ in
            let wrongUnit = "must be one of kg, g, lb, st, oz, jin, lbs, mg"
            let document = documents.send(#"{"samples":[\#(list)]}"#)
            let (_, receipts) = try #require(try await session.nextEvents()?.first?.asSamples, "no samples")
            let refusal = DeviceError(.invalid, "value: must be a number from 0.4 to 650")
            let outcomes: [SettledReceipt.Outcome] = [.new, .corrected, .known, .refused(refusal), .superseded, .new]
            // They are settled in another order.
            for (receipt, outcome) in zip(receipts, outcomes).reversed() {
                try await session.settle([SettledReceipt(receipt, outcome)])
            }
            let report = try Self.report(try await document.answered())
            let expected = [
                Entry(path: "samples[0].unit", .refused, reason: wrongUnit),
                Entry(path: "samples[1]", .new), Entry(path: "samples[2]", .corrected),
                Entry(path: "samples[3]", .known),
                Entry(path: "samples[4].value", .refused, reason: "must be a number from 0.4 to 650 (in kg)"),
                Entry(path: "samples[5]", .superseded), Entry(path: "samples[6]", .new),
                Entry(path: "samples[7]", .skipped, reason: "stress is not among the options' metrics"),
            ]
            #expect(report.entries == expected)
            #expect(report.furtherEntries == 0)
            #expect([report.new, report.corrected, report.known, report.superseded] == [2, 1, 1, 1])
            #expect(
                report.refused == [
                    "unit: \(wrongUnit)": 1, "value: must be a number from 0.4 to 650": 1,
                ])
        }
    }

    @Test func `a document of a script that is none of it is unreadable, and says what is expected`() throws {
        try withSession { _, documents, _ in
            let answer = try await documents.send(#"{"data":{"metrics":[]}}"#).answered()
            guard case .unreadable(let reason) = answer else {
                Issue.record("\(answer)")
                return
            }
            #expect(reason.contains("data is unknown; known are samples, sleeps, workouts, alerts and source"))
        }
    }

    @Test func `alerts are answered when the gateway has stored them, and the same ones again are known`() throws {
        let alert = #"{"rule":"heart_rate_resting_high","value":121,"time":1700000000}"#
        let weight = #"{"metric":"weight","value":70,"time":1700000000}"#
        try withSession { session, documents, clock in
            let document = documents.send(#"{"alerts":[\#(alert)]}"#)
            let events = try await session.nextEvents()
            let rule = AlertRule(.heartRate, .resting, .high)
            let raised = DeviceAlert(rule: rule, edge: .raised, value: 121, at: Timestamp(seconds: 1_700_000_000))
            guard case .alerts(let alerts, let taken)? = events?.first, alerts == [raised] else {
                Issue.record("no alerts: \(events ?? [])")
                return
            }
            // The gateway is still busy with it.
            let early = await clock.withTimeout(.hours(1)) { try? await document.answered() }
            #expect(early == nil)
            try await session.settle([SettledReceipt(taken[0], .new)])
            async let further = session.nextEvents()
            let first = try Self.report(try await document.answered())
            #expect(first.entries == [Entry(path: "alerts[0]", .new)])
            let second = documents.send(#"{"alerts":[\#(alert)],"samples":[\#(weight)]}"#)
            let others = try await further
            let (samples, receipts) = try #require(others?.first?.asSamples, "no samples")
            #expect(samples.count == 1)
            try await session.settle([SettledReceipt(receipts[0], .new)])
            let report = try Self.report(try await second.answered())
            #expect(report.entries == [Entry(path: "alerts[0]", .known), Entry(path: "samples[0]", .new)])
        }
    }

    @Test func `a count of 0 corrects what was said of the same interval, and is skipped where nothing was`()
        async throws
    {
        let store = try ConsumedStore(ScriptDocument.overlaps, device: try #require(DeviceID("script")))
        let documents = ScriptedDocuments()
        try await PhoneDriver<ScriptDocument>(metrics: [.steps]).withSession(
            over: .documents(documents), context: Phone.context(clock: .system)
        ) { session in
            for (value, minutes, outcome) in [
                (0, 15, .skipped), (512, 15, .new), (0, 15, .corrected), (0, 15, .skipped), (300, 15, .corrected),
                (0, 5, .skipped),
            ] as [(Int, Int, Entry.Outcome)] {
                let end = 1_700_000_000 + minutes * 60
                let entry = #"{"metric":"steps","value":\#(value),"start":1700000000,"end":\#(end)}"#
                let document = documents.send(#"{"samples":[\#(entry)]}"#)
                let (samples, receipts) = try #require(try await session.nextEvents()?.first?.asSamples, "no samples")
                let settled = try await zip(receipts, store.ingest(samples)).map { receipt, novelty in
                    let outcome: SettledReceipt.Outcome =
                        switch novelty {
                        case .new: .new
                        case .corrected: .corrected
                        case .known: .known
                        case .withdrawn: .superseded
                        }
                    return SettledReceipt(receipt, outcome)
                }
                try await session.settle(settled)
                let report = try Self.report(try await document.answered())
                #expect(report.entries.map(\.outcome) == [outcome], "\(value) in \(minutes) min")
            }
        }
        #expect(store.held(.steps).map(\.value) == [300])
    }

    @Test func `an alert that the gateway refuses is answered as refused, and is no known one when it comes again`()
        throws
    {
        let entries = [(85, 1_600_000_000), (84, 1_700_000_000)].map { value, time in
            #"{"rule":"blood_oxygen_low","value":\#(value),"time":\#(time)}"#
        }
        let alerts = #"{"alerts":[\#(entries.joined(separator: ","))]}"#
        try withSession { session, documents, _ in
            let tooOld = DeviceError(.invalid, "It is older than what the gateway takes of this device.")
            let refused = [0, 1].map { Entry(path: "alerts[\($0)]", .refused, reason: tooOld.message) }
            let outcomes: [[SettledReceipt.Outcome]] = [
                [.refused(tooOld), .refused(tooOld)], [.refused(tooOld), .known],
            ]
            for settled in outcomes {
                let document = documents.send(alerts)
                guard case .alerts(let sent, let receipts)? = try await session.nextEvents()?.first else {
                    Issue.record("no alerts")
                    return
                }
                #expect(sent.map(\.value) == [85, 84])
                try await session.settle(zip(receipts, settled).map { SettledReceipt($0, $1) })
                let report = try Self.report(try await document.answered())
                let isKnown = settled[1] == .known
                #expect(report.entries == [refused[0], isKnown ? Entry(path: "alerts[1]", .known) : refused[1]])
                #expect(report.refused == [tooOld.message: isKnown ? 1 : 2])
            }
        }
    }

    @Test func `warnings of a script are settled by their receipts, and each is answered in its place`() throws {
        let high = #"{"rule":"heart_rate_warning_high","value":131,"limit":120,"time":1700000000}"#
        let irregular = #"{"rule":"heart_rhythm_irregular","time":1700000060}"#
        let weight = #"{"metric":"weight","value":70,"time":1700000000}"#
        try withSession { session, documents, _ in
            #expect(session.description.capabilities.supports(.warnings, .heartRate))
            let document = documents.send(#"{"alerts":[\#(high),\#(irregular)],"samples":[\#(weight)]}"#)
            let (_, sent) = try #require(try await session.nextEvents()?.first?.asSamples, "no samples")
            try await session.settle([SettledReceipt(sent[0], .corrected)])
            guard case .warnings(let warnings, let receipts)? = try await session.nextEvents()?.first else {
                Issue.record("no warnings")
                return
            }
            #expect(warnings.map(\.rule) == [AlertRule(.highHeartRate), AlertRule(.irregularRhythm)])
            #expect(warnings.map(\.limit) == [120, nil])
            try await session.settle([SettledReceipt(receipts[1], .new), SettledReceipt(receipts[0], .known)])
            let report = try Self.report(try await document.answered())
            let expected = [
                Entry(path: "alerts[0]", .known), Entry(path: "alerts[1]", .new), Entry(path: "samples[0]", .corrected),
            ]
            #expect(report.entries == expected)
            #expect([report.new, report.corrected, report.known] == [1, 1, 1])
        }
    }

    @Test func `thousands of refused entries are counted, and a hundred of them are listed`() throws {
        let entries = Array(repeating: #"{"metric":"weight"}"#, count: 2 * PhoneLimits.batch + 5)
        try withSession { _, documents, _ in
            let document = documents.send(#"{"samples":[\#(entries.joined(separator: ","))]}"#)
            let report = try Self.report(try await document.answered())
            #expect(report.entries.count == DocumentReport.maximumEntries)
            #expect(report.furtherEntries == entries.count - DocumentReport.maximumEntries)
            #expect(report.refused == ["time: is missing": entries.count])
        }
    }
}
