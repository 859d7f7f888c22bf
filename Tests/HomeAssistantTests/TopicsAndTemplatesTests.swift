import Contract
import HomeAssistant
import JSON
import Testing
import Vitals

/// Checks that discovery messages match what the gateway publishes and accepts.
@Suite struct TopicsAndTemplatesTests {
    static let parser = CommandParser(
        topics: Devices.topics, discoveryPrefix: "homeassistant", calendar: Devices.calendar)
    static let versions: [HomeAssistantVersion] = [.deviceDiscovery, .timePlatform]

    @Test func `reads states only where the gateway publishes them, retained but for the event`() throws {
        let devices = [Devices.band.info.id, Devices.cuff.info.id]
        let state: Set<String> = Set(
            (devices.flatMap { Topic.retained(of: $0) } + [.gatewayStatus, .gatewayState]).map(Devices.topics.topic))
        let events = Set(devices.map { Devices.topics.topic(.alertEvent($0)) })
        for (key, value) in try Announced.components() {
            for topic in value["availability"]?.asArray ?? [] {
                #expect(state.contains(try #require(topic["topic"]?.asString)))
            }
            guard let topic = value["state_topic"]?.asString else { continue }
            #expect(value["platform"] == "event" ? events.contains(topic) : state.contains(topic), "\(key)")
        }
    }

    @Test(arguments: versions)
    func `names in its templates only what the payload has`(version: HomeAssistantVersion) throws {
        let payloads = try Announced.payloads()
        var count = 0
        for (key, value) in try Announced.components(version) {
            guard let template = value["value_template"]?.asString else { continue }
            let topic = try #require(value["state_topic"]?.asString)
            let payload = try #require(payloads[topic], "\(key)")
            let paths = template.matches(of: #/value_json((?:\.[a-z_0-9]+)+)/#)
            #expect(!paths.isEmpty, "\(key)")
            for path in paths {
                var found: JSONValue? = payload
                for name in path.1.split(separator: ".") { found = found?[String(name)] }
                #expect(found != nil, "\(key): \(template)")
                count += 1
            }
        }
        #expect(count > 60)
    }

    @Test func `the level of an alert says what it is of, who has seen it, and where to acknowledge it`() throws {
        let payloads = try Announced.payloads()
        let levels = try Announced.components().filter { $0.key.hasPrefix("alert_") }
        #expect(levels.count > 15)
        for (key, value) in levels {
            let topic = try #require(value["state_topic"]?.asString)
            #expect(value["json_attributes_topic"]?.asString == topic)
            let template = try #require(value["json_attributes_template"]?.asString)
            let payload = try #require(payloads[topic])
            let names = template.matches(of: #/'([a-z_]+)': value_json\.([a-z_]+)/#).map {
                (String($0.1), String($0.2))
            }
            #expect(names.map(\.0).contains("acknowledged_by") && names.map(\.0).contains("last_id"))
            for (name, member) in names { #expect(name == member && payload[member] != nil, "\(key): \(name)") }
            let command = try #require(template.firstMatch(of: #/'acknowledge_topic': "([^"]+)"/#)).1
            let seen = #"{"id":"48f87357-0bf7-5758-ad2e-511355013f20","by":"anna"}"#
            let incoming = Self.parser.parse(
                topic: String(command), payload: Array(seen.utf8), isRetained: false,
                receivedAt: Timestamp(seconds: 1_780_000_000))
            guard case .device(.acknowledge(_, by: "anna"), let envelope) = incoming else {
                Issue.record("\(key): \(incoming)")
                continue
            }
            let device = try #require(envelope.device)
            #expect(topic.contains("/\(device.text)/alert/"))
        }
    }

    @Test(arguments: versions)
    func `sends what the gateway takes`(version: HomeAssistantVersion) throws {
        for (key, value) in try Announced.components(version) {
            guard let topic = value["command_topic"]?.asString else { continue }
            for payload in Self.payloads(of: value) {
                let incoming = Self.parser.parse(
                    topic: topic, payload: Array(payload.utf8), isRetained: false,
                    receivedAt: Timestamp(seconds: 1_780_000_000))
                switch incoming {
                case .device(.configure(let patch, _, _), _):
                    #expect(patch.changes.map(\.key.path) == [Self.path(of: key)], "\(key): \(payload)")
                case .passkey: #expect(key == "passkey")
                case .device, .gateway: break
                case .ignored, .rejected: Issue.record("\(key) sends \(payload) to \(topic): \(incoming)")
                }
            }
        }
    }

    /// The payloads that an entity can send, with an example in place of a template.
    private static func payloads(of value: JSONValue) -> [String] {
        if let template = value["command_template"]?.asString {
            let isNumber = value["platform"] == "number"
            let isPasskey = value["pattern"] == "^[0-9]{6}$"
            let texts = isPasskey ? ["012345"] : value["platform"] == "time" ? ["08:00:00"] : ["08:00", "24:00"]
            let examples = isNumber ? ["40", "40.5"] : texts
            return examples.map {
                template.replacing("{{ value }}", with: $0).replacing("{{ value[:5] }}", with: $0)
            }
        }
        let fixed = ["payload_on", "payload_off", "payload_press"].compactMap { value[$0]?.asString }
        return fixed.isEmpty ? ["PRESS"] : fixed
    }

    /// The path of the setting that a control changes.
    private static func path(of key: String) -> String? {
        MonitorSetting.all.first { $0.path.replacing(".", with: "_") == key }?.path
    }

    @Test func `takes each schedule's text by its pattern, as the gateway publishes it`() throws {
        for (_, value) in try Announced.components() {
            guard let pattern = value["pattern"]?.asString, pattern.contains(":") else { continue }
            let expression = try Regex(pattern)
            for text in ["00:00", "08:05", "23:59", "24:00"] { #expect(text.wholeMatch(of: expression) != nil) }
            for text in ["24:01", "8:00", "08:60", "", "None"] { #expect(text.wholeMatch(of: expression) == nil) }
        }
    }

    @Test func `shows an end at 24:00 as 00:00 where a time picker is used`() throws {
        let end = try #require(
            try Announced.components(.timePlatform).first { $0.key == "heart_rate_schedule_end" })
        #expect(end.value["value_template"]?.asString?.contains("'00:00' if") == true)
    }
}
