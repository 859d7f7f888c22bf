import Contract
import JSON
import MQTT
import Testing
import Vitals

/// The contract's rules for every payload.
@Suite struct PayloadRuleTests {
    static let plain = ["gateway-status-online", "availability-offline"]

    @Test(arguments: ExampleMessages.names)
    func `has no key that a template takes for a method`(name: String) throws {
        guard !Self.plain.contains(name) else { return }
        let message = try #require(ExampleMessages.message(name))
        var keys: Set<String> = []
        Self.collect(try JSONValue(parsing: message.payload), &keys)
        #expect(!keys.isEmpty)
        #expect(keys.isDisjoint(with: ["values", "items", "keys", "get", "update", "pop", "copy"]))
    }

    @Test(arguments: ExampleMessages.names)
    func `begins with its schema, once`(name: String) throws {
        guard !Self.plain.contains(name) else { return }
        let message = try #require(ExampleMessages.message(name))
        let members = try #require(try JSONValue(parsing: message.payload).asObject)
        #expect(members.first?.key == "schema")
        let schema = try #require(members.first?.value.asString)
        #expect(PayloadSchema(rawValue: schema) != nil)
        #expect(members.filter { $0.key == "schema" }.count == 1)
    }

    @Test func `publishes every kind of payload in some example`() throws {
        let schemas = try ExampleMessages.all.filter { !Self.plain.contains($0.name) }
            .compactMap { try JSONValue(parsing: $0.message.payload)["schema"]?.asString }
        #expect(Set(schemas) == Set(PayloadSchema.allCases.map(\.rawValue)))
    }

    @Test func `has the same keys for the same schema and metric, whatever is unknown`() throws {
        let full = try Self.keys(of: "info")
        #expect(try Self.keys(of: "info-never-connected") == full)
        #expect(try Self.keys(of: "measure-idle") == (try Self.keys(of: "measure")))
        #expect(try Self.keys(of: "latest-stale") == (try Self.keys(of: "latest")))
        #expect(try Self.keys(of: "config-never-connected") == (try Self.keys(of: "config")))
        #expect(try Self.keys(of: "level-acknowledged") == (try Self.keys(of: "level")))
        #expect(try Self.keys(of: "alert-late") == (try Self.keys(of: "alert-raised")))
        #expect(try Self.keys(of: "alert-warning") == (try Self.keys(of: "alert-raised")))
        #expect(try Self.keys(of: "answer-accepted") == (try Self.keys(of: "answer-violations")))
        #expect(try Self.keys(of: "today-empty") == (try Self.keys(of: "past-day")))
    }

    @Test(arguments: [false, true])
    func `a count says whether it is withdrawn, and a value only that it is`(isWithdrawn: Bool) throws {
        func flag(_ stored: StoredSample) throws -> Bool? {
            var stored = stored
            stored.isWithdrawn = isWithdrawn
            let measurement = Fact.Measurement(
                metric: stored.sample.metric, source: .sync, isHistorical: true, user: nil, samples: [stored])
            var encoder = Examples.encoder
            let message = encoder.fact(
                Fact(sequence: 1, lane: .history, device: Examples.device, content: .measurement(measurement)),
                info: Examples.info, publishedAt: Examples.now, isReplay: false)
            return try JSONValue(parsing: message.payload)["samples"]?[0]?["withdrawn"]?.asBool
        }
        #expect(try flag(Examples.steps) == isWithdrawn)
        #expect(try flag(Examples.weight) == (isWithdrawn ? true : nil))
    }

    @Test(arguments: Metric.allCases)
    func `says of each ability whether the device has it, and of no metric that it has not`(metric: Metric) throws {
        for (name, ability) in Abilities.named {
            let isOfMetric = metric == .heartRate || !Abilities.heartRateOnly.contains(ability)
            var info = Examples.info
            info.capabilities = Capabilities([metric: ability])
            let message = try JSONValue(parsing: Examples.encoder.info(info).payload)
            let capabilities = try #require(message["capabilities"]?.asObject)
            #expect(capabilities.map(\.key) == [metric.rawValue])
            let abilities = try #require(capabilities.first?.value.asObject)
            #expect(abilities.filter { $0.value.asBool == true }.map(\.key) == (isOfMetric ? [name] : []))
            #expect(abilities.count == (metric == .heartRate ? 12 : 7))
        }
    }

    @Test(arguments: [
        ("Europe/Berlin", "2026-11-20", "2026-11-19T23:00:00.000Z"),
        ("Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00.000Z"),
        ("America/New_York", "2026-03-09", "2026-03-09T04:00:00.000Z"),
        ("Asia/Kathmandu", "2026-06-01", "2026-05-31T18:15:00.000Z"),
        // This day has no midnight: clocks went from 00:00 to 01:00.
        ("America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00.000Z"),
    ])
    func `a day says when it began`(zone: String, date: String, start: String) throws {
        let calendar = try #require(LocalCalendar(identifier: zone))
        var encoder = ContractEncoder(topics: Examples.topics, calendar: calendar)
        let summary = DailySummary(metric: .bloodPressure, day: try #require(LocalDay(date)), samples: [])
        let message = encoder.today(
            DayRecord(summary: summary, revision: 1, updatedAt: Examples.now, isFinal: false), of: Examples.device)
        #expect(try JSONValue(parsing: message.payload)["day_start"]?.asString == start)
    }

    @Test func `writes every leaf of the configuration, also those that the device does not have`() throws {
        let message = try #require(ExampleMessages.message("config-never-connected"))
        let document = try JSONValue(parsing: message.payload)
        for setting in MonitorSetting.all {
            var value: JSONValue? = document
            for name in setting.path.split(separator: ".") { value = value?[String(name)] }
            #expect(value != nil, "\(setting.path)")
        }
    }

    static func keys(of name: String) throws -> [String] {
        let message = try #require(ExampleMessages.message(name))
        return try #require(try JSONValue(parsing: message.payload).asObject).map(\.key)
    }

    static func collect(_ value: JSONValue, _ keys: inout Set<String>) {
        for member in value.asObject ?? [] {
            keys.insert(member.key)
            collect(member.value, &keys)
        }
        for element in value.asArray ?? [] { collect(element, &keys) }
    }
}
