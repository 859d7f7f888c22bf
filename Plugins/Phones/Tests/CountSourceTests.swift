import GatewayKit
import GatewayTesting
import Logging
import TestSupport
import Testing
import Vitals

@testable import Phones

/// Steps that a watch and a phone count, each for itself.
@Suite struct CountSourceTests {
    private static func exported(
        _ sources: [String?], _ name: String = "step_count", _ unit: String = "count"
    ) -> String {
        let entries = sources.enumerated().map { number, source in
            let member = source.map { ",\"source\":\"\($0)\"" } ?? ""
            return "{\"date\":\"2026-01-01 00:0\(number):00 +0000\",\"qty\":\(number + 1)\(member)}"
        }.joined(separator: ",")
        return #"{"data":{"metrics":[{"name":"\#(name)","units":"\#(unit)","data":[\#(entries)]}]}}"#
    }

    private static func posted(_ apps: [String?]) -> String {
        let entries = apps.enumerated().map { number, app in
            let times = #""start_time":"2026-01-01T0\#(number):00:00Z","end_time":"2026-01-01T0\#(number):10:00Z""#
            let metadata = app.map { ",\"metadata\":{\"id\":1,\"data_origin\":\"\($0)\"}" } ?? ""
            return "{\"count\":\(number + 1),\(times)\(metadata)}"
        }.joined(separator: ",")
        return "{\"timestamp\":\"2026-01-02T00:00:00Z\",\"steps\":[\(entries)]}"
    }

    private func counts(_ samples: [Sample]) -> [Int] {
        samples.compactMap { if case .count(let steps) = $0.reading { steps.count } else { nil } }
    }

    @Test func `one source of an iPhone is taken, also from merged lists, and the others are counted`() throws {
        let text = Self.exported(["Watch", "Phone", "Phone|Watch", "My Watch", nil, "Phone | Watch"])
        let found = try Phone.records(Array(text.utf8), of: HealthAutoExport.self, source: "Watch")
        #expect(counts(found.samples) == [1, 3, 5, 6])
        #expect(
            found.skipped == [
                "step_count of another source: Phone": 1, "step_count of another source: My Watch": 1,
            ])
        let all = try Phone.records(Array(text.utf8), of: HealthAutoExport.self)
        #expect(all.samples.count == 6 && all.skipped == [:])
    }

    @Test func `one app of an Android phone is taken, and the others are counted`() throws {
        let text = Self.posted(["com.watch", "com.phone", nil, "com.watch.other"])
        let found = try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self, source: "com.watch")
        #expect(counts(found.samples) == [1, 3])
        #expect(
            found.skipped == [
                "steps of another source: com.phone": 1, "steps of another source: com.watch.other": 1,
            ])
        let all = try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self)
        #expect(all.samples.count == 4 && all.skipped == [:])
    }

    @Test func `what is no count is taken from every source`() throws {
        let text = #"""
            {"data":{"metrics":[{"name":"heart_rate","units":"bpm","data":[
            {"date":"2026-01-01 00:00:00 +0000","Avg":60,"source":"Strap"}]}]}}
            """#
        #expect(try Phone.records(Array(text.utf8), of: HealthAutoExport.self, source: "Watch").samples.count == 1)
    }

    @Test func `several sources are reported once in a session, with the option that picks one`() throws {
        let two = Self.exported(["Watch", "Phone"])
        let both = "option sources, sources Watch (a watch), Phone (a phone)"
        #expect(try notices(of: [two, two], source: nil) == [both])
        #expect(try notices(of: [two], source: "Watch") == [])
        #expect(try notices(of: [Self.exported(["Watch", nil, "Watch"])], source: nil) == [])
        #expect(try notices(of: [two], source: nil, metrics: [.heartRate]) == [])
    }

    @Test func `every count has sources, of which one is picked and several are reported`() throws {
        let two = Self.exported(["Watch", "Phone"], "active_energy", "kcal")
        let found = try Phone.records(Array(two.utf8), of: HealthAutoExport.self, source: "Watch")
        #expect(counts(found.samples) == [1])
        #expect(found.skipped == ["active_energy of another source: Phone": 1])
        // Each with the reason for its place, in whichever order they came.
        let behind = Self.exported(["Phone", "Mi Band", "Watch"], "active_energy", "kcal")
        #expect(
            try notices(of: [behind, behind], source: nil, metrics: [.activeEnergy])
                == ["option sources, sources Watch (a watch), Mi Band (a band or ring), Phone (a phone)"])
        var sources = CountSources(nil, order: SourceOrder(["Phone"]))
        for name in ["Watch", "Phone"] {
            _ = sources.skip("steps", from: name)
            _ = sources.origin(of: NamedSource(merged: name))
        }
        #expect(sources.inOrder == ["Phone (named in sources)", "Watch (a watch)"])
    }

    @Test func `the number of sources that are reported is limited`() throws {
        var sources = CountSources(nil)
        for number in 0...CountSources.maximumNames { _ = sources.skip("steps", from: "\(number)") }
        #expect(sources.names.count == CountSources.maximumNames)
    }

    @Test func `each app has its option`() {
        func issues<App: PhoneApp>(_ app: App.Type, _ option: String, _ value: String = "x") -> [String] {
            let source = ConfigurationValue(.scalar(value, isQuoted: true))
            var reader = ConfigurationReader(ConfigurationValue(.map([(ConfigurationKey(option), source)])))
            _ = PhoneDriver<App>(options: &reader)
            return reader.finish().map(\.message)
        }
        #expect(issues(HealthAutoExport.self, "source") == [])
        #expect(issues(HealthConnectWebhook.self, "app") == [])
        #expect(issues(HealthAutoExport.self, "app").count == 1)
        #expect(issues(HealthConnectWebhook.self, "source").count == 1)
        #expect(issues(HealthAutoExport.self, "source", "").count == 1)
        #expect(issues(HealthAutoExport.self, "sources") == [] && issues(HealthConnectWebhook.self, "sources") == [])
    }

    /// The notices of a session with these documents.
    private func notices(
        of documents: [String], source: String?, metrics: [Metric] = HealthAutoExport.metrics
    ) throws -> [String] {
        let log = LogRecorder()
        try Simulation.run(seed: 1, deadline: .days(1)) { simulation in
            let link = ScriptedDocuments()
            try await PhoneDriver<HealthAutoExport>(metrics: metrics, source: source).withSession(
                over: .documents(link), context: Phone.context(clock: simulation.gatewayClock, logger: log.logger)
            ) { session in
                for document in documents {
                    let sent = link.send(document)
                    if metrics.contains(where: { $0.shape == .count }) {
                        for case .samples(_, let receipts) in try await session.nextEvents() ?? [] {
                            try await session.settle(receipts.map { SettledReceipt($0, .new) })
                        }
                    }
                    _ = try await sent.answered()
                }
            }
        }
        return log.entries.filter { $0.level >= .notice && $0.metadata["sources"] != nil }
            .map { "option \($0.metadata["option"] ?? ""), sources \($0.metadata["sources"] ?? "")" }
    }
}
