import Contract
import JSON
import Testing
import Vitals

/// What the contract says of every payload.
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
        #expect(try Self.keys(of: "alert-late") == (try Self.keys(of: "alert-raised")))
        #expect(try Self.keys(of: "answer-accepted") == (try Self.keys(of: "answer-violations")))
        #expect(try Self.keys(of: "today-empty") == (try Self.keys(of: "past-day")))
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
