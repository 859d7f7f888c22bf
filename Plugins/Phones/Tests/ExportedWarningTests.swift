import GatewayKit
import GatewayTesting
import Testing
import Vitals

@testable import Phones

/// What a watch warned of, in a document after the app's published examples, worked out by hand.
@Suite struct ExportedWarningTests {
    private static func document() throws -> [UInt8] { try Phone.document("health-auto-export-warnings.json") }

    private func alert(
        _ warning: AlertRule.Warning, _ time: String, value: Double? = nil, limit: Double? = nil
    ) -> DeviceAlert {
        DeviceAlert(rule: AlertRule(warning), edge: .raised, value: value, limit: limit, at: Phone.at(time))
    }

    @Test func `notifications and ECGs are warnings at their end, with what they say of the heart rate`() throws {
        let found = try Phone.records(Self.document(), of: HealthAutoExport.self)
        #expect(found.samples.isEmpty)
        #expect(
            found.warnings == [
                alert(.highHeartRate, "2026-01-05T13:40:00Z", value: 131, limit: 120),
                alert(.lowHeartRate, "2026-01-05T02:20:00Z", value: 36, limit: 40),
                alert(.irregularRhythm, "2026-01-04T23:10:00Z"),
                alert(.highHeartRate, "2026-01-03T08:10:00Z", value: 95, limit: 80),
                alert(.lowHeartRate, "2026-01-03T09:10:00Z", value: 71, limit: 80),
                alert(.fibrillation, "2026-01-05T07:00:30Z", value: 97),
                alert(.highInECG, "2026-01-05T07:10:30Z", value: 161),
                alert(.highInECG, "2026-01-05T07:11:30Z", value: 155),
                alert(.lowInECG, "2026-01-05T07:15:30Z", value: 44),
                alert(.inconclusive, "2026-01-05T07:20:30Z"),
            ])
    }

    @Test func `what is no warning, or left out on purpose, is counted with the reason`() throws {
        #expect(
            try Phone.records(Self.document(), of: HealthAutoExport.self).skipped == [
                "a heart-rate notification that tells neither a high nor a low heart rate": 1,
                "a heart-rate notification whose threshold is no heart rate": 1,
                "a heart-rate notification without a readable time": 1,
                "an entry of heartRateNotifications that is no object": 1,
                "left out on purpose: the voltages of an ECG": 2,
                "left out on purpose: an ECG in sinus rhythm, which warns of nothing": 1,
                "an ECG without a classification": 1, "an ECG classified as Something New": 1,
                "an ECG without a readable time": 1, "left out on purpose: symptoms": 2,
                "left out on purpose: cycleTracking": 1, "left out on purpose: medications": 1,
                "left out on purpose: stateOfMind": 1,
            ])
    }

    @Test(
        arguments: [
            (49.9, [60.0], AlertRule.Warning.lowHeartRate), (50, [60], .lowHeartRate), (100, [60], .highHeartRate),
            (75, [75.5], .highHeartRate), (75, [74.5], .lowHeartRate), (75, [75], nil), (75, [74, 76], nil),
            (75, [], nil),
            (19, [60], nil), (301, [60], nil),
        ] as [(Double, [Double], AlertRule.Warning?)])
    func `a threshold tells by what a watch offers, or else by the heart rates`(
        threshold: Double, rates: [Double], warning: AlertRule.Warning?
    ) throws {
        let list = rates.map { "{\"hr\":\($0)}" }.joined(separator: ",")
        let entry = "{\"start\":\"2026-01-05T08:00:00Z\",\"threshold\":\(threshold),\"heartRate\":[\(list)]}"
        let text = "{\"data\":{\"heartRateNotifications\":[\(entry)]}}"
        let found = try Phone.records(Array(text.utf8), of: HealthAutoExport.self)
        #expect(found.warnings.count == (warning == nil ? 0 : 1))
        #expect(found.warnings.first?.rule.warning == warning)
        #expect(found.skipped.count == (warning == nil ? 1 : 0))
    }

    @Test func `a phone says that it warns if heart rates are wanted, and is then answered like samples`() throws {
        let text = String(decoding: try Self.document(), as: UTF8.self)
        func run(
            _ metrics: [Metric], _ body: @escaping @Sendable (any DeviceSession, Document) async throws -> Void
        ) throws {
            try Simulation.run(seed: 1, deadline: .days(1)) { simulation in
                let documents = ScriptedDocuments()
                let context = try Phone.context(clock: simulation.gatewayClock)
                try await PhoneDriver<HealthAutoExport>(metrics: metrics).withSession(
                    over: .documents(documents), context: context
                ) { session in try await body(session, documents.send(text)) }
            }
        }
        try run([.heartRate]) { session, document in
            #expect(session.description.capabilities.supports(.warnings, .heartRate))
            guard case .warnings(let warnings, let receipts)? = try await session.nextEvents()?.first else {
                Issue.record("no warnings")
                return
            }
            #expect(warnings.count == 10 && receipts.count == 10)
            let outcomes: [SettledReceipt.Outcome] = receipts.indices.map { $0 < 4 ? .new : .known }
            try await session.settle(zip(receipts, outcomes).map { SettledReceipt($0, $1) })
            guard case .stored(let report) = try await document.answered() else {
                Issue.record("not stored")
                return
            }
            #expect(report.new == 4 && report.known == 6)
        }
        try run([.steps]) { session, document in
            #expect(!session.description.capabilities.supports(.warnings, .heartRate))
            guard case .stored(let report) = try await document.answered() else {
                Issue.record("not stored")
                return
            }
            #expect(report.skipped["heart_rate is not among the options' metrics"] == 10)
        }
    }

    @Test func `a document of which all is left out on purpose is no mistake`() throws {
        var report = DocumentReport()
        report.skip("left out on purpose: symptoms")
        #expect(EmptyDocuments().reasons(report, at: .zero) == nil)
        report.skip("an ECG without a classification")
        #expect(EmptyDocuments().reasons(report, at: .zero) == "an ECG without a classification")
    }
}
