import Conformance
import Foundation
import GatewayKit
import GatewayTesting
import Logging
import TestSupport
import Testing
import Vitals

@testable import Phones

@Suite struct PhoneSessionTests {
    private static let heartRates =
        #"{"data":{"metrics":[{"name":"heart_rate","units":"bpm","data":[{"date":"2026-01-01 00:00:00 +0000","Avg":60},{"date":"2026-01-01 00:01:00 +0000","Avg":61},{"date":"2026-01-01 00:02:00 +0000","Avg":999}]}]}}"#

    /// Runs a session in simulated time.
    private func withSession(
        metrics: [Metric] = HealthAutoExport.metrics, log: LogRecorder = LogRecorder(),
        _ body: @escaping @Sendable (any DeviceSession, ScriptedDocuments, GatewayClock) async throws -> Void
    ) throws {
        try Simulation.run(seed: 1, deadline: .days(1)) { simulation in
            let documents = ScriptedDocuments()
            try await PhoneDriver<HealthAutoExport>(metrics: metrics).withSession(
                over: .documents(documents), context: Phone.context(clock: simulation.gatewayClock, logger: log.logger)
            ) { session in try await body(session, documents, simulation.gatewayClock) }
        }
    }

    @Test func `a document is answered when all of its samples are settled, and with what became of them`() throws {
        try withSession { session, documents, clock in
            let document = documents.send(Self.heartRates)
            let (samples, receipts) = try #require(try await session.nextEvents()?.first?.asSamples, "no samples")
            #expect(samples.count == 3)
            try await session.settle([SettledReceipt(receipts[0], .new), SettledReceipt(receipts[1], .known)])
            let early = await clock.withTimeout(.hours(1)) { try? await document.answered() }
            #expect(early == nil)
            let refusal = DeviceError(.invalid, "value: must be a number from 20 to 300")
            try await session.settle([SettledReceipt(receipts[2], .refused(refusal))])
            var report = DocumentReport()
            report.new = 1
            report.known = 1
            report.count(.refused(refusal))
            #expect(try await document.answered() == .stored(report))
        }
    }

    @Test func `each document that was taken has a line in the log, with what became of its records`() throws {
        let log = LogRecorder()
        try withSession(log: log) { session, documents, _ in
            let document = documents.send(Self.heartRates)
            let (_, receipts) = try #require(try await session.nextEvents()?.first?.asSamples, "no samples")
            let refusal = DeviceError(.invalid, "value: must be a number from 20 to 300")
            try await session.settle([
                SettledReceipt(receipts[0], .new), SettledReceipt(receipts[1], .superseded),
                SettledReceipt(receipts[2], .refused(refusal)),
            ])
            _ = try await document.answered()
        }
        let lines = log.entries.filter { $0.message == "A document was taken." }
        #expect(lines.map(\.level) == [.info])
        #expect(
            lines.first?.metadata == [
                "new": "1", "corrected": "0", "known": "0", "superseded": "1", "skipped": "0", "refused": "1",
            ])
    }

    @Test func `documents of which nothing is taken are a warning once, with the reasons`() throws {
        let log = LogRecorder()
        try withSession(metrics: [.steps], log: log) { _, documents, _ in
            for _ in 0..<3 { _ = try await documents.send(Self.heartRates).answered() }
            _ = try await documents.send(#"{"data":{}}"#).answered()
        }
        let warnings = log.entries.filter { $0.level == .warning }
        #expect(warnings.map(\.metadata) == [["reasons": "heart_rate is not among the options' metrics"]])
        #expect(warnings.first?.message.contains("the device's options") == true)
    }

    @Test func `metrics that are not wanted are skipped, and an empty export is answered at once`() throws {
        try withSession(metrics: [.steps]) { session, documents, _ in
            #expect(session.description.capabilities.metrics.keys.map(\.rawValue) == ["steps"])
            guard case .stored(let report) = try await documents.send(Self.heartRates).answered() else {
                Issue.record("not stored")
                return
            }
            #expect(report.skipped == ["heart_rate is not among the options' metrics": 3])
            #expect(try await documents.send(#"{"data":{}}"#).answered() == .stored(DocumentReport()))
        }
    }

    @Test func `a session says at its end how many records were no samples`() throws {
        #expect(throws: LinkError(.ended, "The phone has sent all.")) {
            try withSession { session, documents, _ in
                let strange = #"{"name":"strange","units":"x","data":[{"date":"2026-01-01 00:00:00 +0000","qty":1}]}"#
                for _ in 0..<2 { documents.send(#"{"data":{"metrics":[\#(strange)]}}"#) }
                documents.finish()
                let events = try await session.nextEvents()
                let skipped = SkippedValues(reason: "no_sample", what: "records of documents", count: 2)
                #expect(events == [.skipped(skipped)])
                #expect(try await session.nextEvents() == nil)
                throw DeviceError(.disconnected, "The device closed the connection.")
            }
        }
    }

    @Test func `an interval that has not ended is skipped, and comes again`() throws {
        try withSession { _, documents, clock in
            let (start, end) = (clock.now - .hours(1), clock.now + .hours(1))
            let entry = #"{"start":"\#(start)","end":"\#(end)","qty":10}"#
            let document = documents.send(#"{"data":{"metrics":[{"name":"step_count","data":[\#(entry)]}]}}"#)
            guard case .stored(let report) = try await document.answered() else {
                Issue.record("not stored")
                return
            }
            #expect(report.skipped == ["an interval that has not ended; it comes again": 1])
        }
    }

    @Test func `a document that is none harms neither the session nor the next one`() throws {
        try withSession { _, documents, _ in
            guard case .unreadable(let reason) = try await documents.send("{").answered() else {
                Issue.record("it was read")
                return
            }
            #expect(reason == "The document cannot be read: Byte 1: the text ends within a value.")
            #expect(
                try await documents.send(#"{"data":{"metrics":"x"}}"#).answered()
                    == .unreadable("The document cannot be read: data.metrics must be a list."))
            #expect(try await documents.send(#"{"data":{}}"#).answered() == .stored(DocumentReport()))
        }
    }

    @Test func `a document of the other app is refused with the driver that reads it`() throws {
        let ofAndroid = try Phone.document("health-connect-webhook.json")
        let ofApple = try Phone.document("health-auto-export.json")
        #expect(throws: DocumentProblem.foreign(HealthConnectWebhook.self)) {
            try Phone.records(ofAndroid, of: HealthAutoExport.self)
        }
        #expect(throws: DocumentProblem.foreign(HealthAutoExport.self)) {
            try Phone.records(ofApple, of: HealthConnectWebhook.self)
        }
        let text = DocumentProblem.foreign(HealthConnectWebhook.self).message
        #expect(text.hasPrefix("This is a document of HC Webhook: set driver: health-connect-webhook"))
    }

    @Test func `the end of a session is no failure`() throws {
        #expect(throws: LinkError(.ended, "The phone has sent all.")) {
            try withSession { session, documents, _ in
                documents.finish()
                #expect(try await session.nextEvents() == nil)
                throw DeviceError(.disconnected, "The device closed the connection.")
            }
        }
    }

    @Test func `a long document comes in batches, of which one is in memory`() throws {
        let count = 2 * PhoneLimits.batch + 10
        let entries = (0..<count).map { "{\"date\":\"2026-01-01 00:00:00.\($0 + 1000) +0000\",\"Avg\":60}" }
        let text =
            "{\"data\":{\"metrics\":[{\"name\":\"heart_rate\",\"data\":[\(entries.joined(separator: ","))]}]}}"
        try withSession { session, documents, _ in
            let document = documents.send(text)
            var sizes: [Int] = []
            while sizes.reduce(0, +) < count {
                for case .samples(let samples, let receipts) in try await session.nextEvents() ?? [] {
                    sizes.append(samples.count)
                    try await session.settle(receipts.map { SettledReceipt($0, .new) })
                }
            }
            #expect(sizes == [PhoneLimits.batch, PhoneLimits.batch, 10])
            guard case .stored(let report) = try await document.answered() else { return }
            #expect(report.new == count)
        }
    }

    @Test func `options name what the app has`() {
        func issues(_ name: String) -> [String] {
            let names = ConfigurationValue(.list([ConfigurationValue(.scalar(name, isQuoted: true))]))
            var reader = ConfigurationReader(ConfigurationValue(.map([(ConfigurationKey("metrics"), names)])))
            _ = PhoneDriver<HealthAutoExport>(options: &reader)
            return reader.finish().map(\.message)
        }
        #expect(issues("heart_rate") == [])
        #expect(issues("stress").first?.hasPrefix("The app has no stress. It has heart_rate, ") == true)
    }

    // All samples come with receipts, and one answer reports all of them, so the suite's events and receipts do not apply here.
    @Test func `the driver of each app does what every driver must do`() throws {
        let ofApple = try violations(of: HealthAutoExport.self)
        #expect(ofApple.isEmpty, "\(ofApple)")
        let ofAndroid = try violations(of: HealthConnectWebhook.self)
        #expect(ofAndroid.isEmpty, "\(ofAndroid)")
        let ofUploaders = try violations(of: Nightscout.self)
        #expect(ofUploaders.isEmpty, "\(ofUploaders)")
        let ofScripts = try violations(of: ScriptDocument.self)
        #expect(ofScripts.isEmpty, "\(ofScripts)")
    }

    private func violations<App: PhoneApp>(of app: App.Type) throws -> [DriverConformance.Violation] {
        try Simulation.run(seed: 1, deadline: .days(10)) { simulation in
            let suite = DriverConformance(
                expecting: DriverConformance.Expectation(timeout: .hours(1)), clock: simulation.gatewayClock
            ) { body in
                let documents = ScriptedDocuments()
                try await PhoneDriver<App>().withSession(
                    over: .documents(documents), context: Phone.context(clock: simulation.gatewayClock)
                ) { session in
                    try await body(
                        session,
                        DriverConformance.Peer(
                            disconnect: { documents.finish(LinkError(.broken, "The listener was closed.")) }))
                }
            }
            return await suite.check()
        }
    }
}
