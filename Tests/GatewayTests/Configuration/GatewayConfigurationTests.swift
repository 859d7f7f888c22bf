import Contract
import Engines
import Gateway
import GatewayKit
import HomeAssistant
import Logging
import MQTT
import Testing
import Vitals

@Suite struct GatewayConfigurationTests {
    static let least = "mqtt: {url: mqtt://127.0.0.1}\n"

    @Test func `needs nothing but a broker`() throws {
        let configuration = try load(Self.least)
        #expect(configuration.id.text == "home")
        #expect(configuration.logLevel == .info)
        #expect(configuration.mqtt.servers == [BrokerServer(host: "127.0.0.1", port: 1883)])
        #expect(configuration.mqtt.baseTopic == "vitals2mqtt")
        #expect(configuration.mqtt.clientID == "vitals2mqtt-home")
        #expect(configuration.mqtt.version == nil)
        #expect(configuration.mqtt.keepAlive == .seconds(15))
        #expect(configuration.store.path == "/nowhere/vitals.sqlite")
        #expect(configuration.store.outboxMaximumAge == .days(30))
        #expect(configuration.store.batchWindow == .seconds(1))
        #expect(configuration.store.outboxMaximumBytes == 1 << 30)
        #expect(configuration.store.sampleRetention == .days(400))
        #expect(configuration.store.dailyRetention == nil)
        #expect(configuration.homeAssistant.discovery == .device)
        #expect(configuration.homeAssistant.compatibility.description == "2024.12")
        #expect(configuration.warnings.map { $0.text(file: nil) } == ["1: devices: No device is configured."])
    }

    @Test func `warns of the older MQTT, which cannot limit packets`() throws {
        let configuration = try load(
            "mqtt: {url: mqtt://127.0.0.1, protocol: 3.1.1}\ndevices: [{id: a, driver: toy}]\n")
        let warnings = configuration.warnings.map { $0.text(file: nil) }
        #expect(warnings.count == 1 && warnings[0].hasPrefix("1: mqtt.protocol: MQTT 3.1.1 cannot limit packets"))
    }

    @Test(arguments: [("auto", MQTTVersion?.none), ("5", .v5), ("\"5\"", .v5), ("3.1.1", .v311)])
    func `takes a version of MQTT, or auto`(text: String, version: MQTTVersion?) throws {
        let configuration = try load("mqtt: {url: mqtt://127.0.0.1, protocol: \(text)}\n")
        #expect(configuration.mqtt.version == version && configuration.mqtt.brokerOptions.version == version)
    }

    @Test func `takes a client id of 128 characters, and no longer one`() throws {
        func text(_ length: Int) -> String {
            "mqtt: {url: mqtt://127.0.0.1, client_id: \(String(repeating: "c", count: length))}\n"
        }
        #expect(try load(text(128)).mqtt.clientID.count == 128)
        #expect(issues(text(129)) == ["1: mqtt.client_id: At most 128 ASCII characters are taken here."])
    }

    @Test func `lists a hundred errors and counts the others`() {
        let keys = (0..<130).map { "key\($0): 1\n" }.joined()
        let found = issues(Self.least + keys)
        #expect(found.count == 101)
        #expect(found.last == "There are 30 more errors.")
    }

    @Test func `reads every key`() throws {
        let configuration = try load(
            """
            gateway: {id: flat, timezone: Europe/Berlin}
            log: {level: debug}
            mqtt:
              url: [mqtts://a.example, "mqtts://b.example:18883"]
              base_topic: body/vitals
              protocol: 3.1.1
              username: vitals
              password: {env: SECRET}
              keep_alive: 30s
              client_id: flat-1
            store:
              path: /var/lib/vitals.sqlite
              outbox: {max_age: 14d, max_size: 64MiB, replay_age: 1d}
              retention: {samples: forever, daily: 3650d}
            home_assistant: {discovery: component, prefix: ha, compatibility: "2023.4"}
            devices: []
            """, environment: ["SECRET": "s3cret"])
        #expect(configuration.id.text == "flat")
        #expect(configuration.calendar.identifier == "Europe/Berlin")
        #expect(configuration.logLevel == .debug)
        #expect(
            configuration.mqtt.servers == [
                BrokerServer(host: "a.example", port: 8883, isTLS: true),
                BrokerServer(host: "b.example", port: 18_883, isTLS: true),
            ])
        #expect(configuration.topics.root == "body/vitals/flat")
        #expect(configuration.mqtt.version == .v311)
        #expect(configuration.mqtt.brokerOptions.password == "s3cret")
        #expect(configuration.mqtt.keepAlive == .seconds(30))
        #expect(configuration.mqtt.clientID == "flat-1")
        #expect(configuration.store.path == "/var/lib/vitals.sqlite")
        #expect(configuration.store.outboxMaximumAge == .days(14))
        #expect(configuration.store.outboxMaximumBytes == 64 << 20)
        #expect(configuration.store.replayAge == .days(1))
        #expect(configuration.store.sampleRetention == nil)
        #expect(configuration.store.dailyRetention == .days(3650))
        #expect(configuration.homeAssistant.discovery == .component)
        #expect(configuration.homeAssistant.prefix == "ha")
        #expect(configuration.homeAssistant.compatibility < .deviceDiscovery)
    }

    @Test(arguments: ["off", "\"off\"", "false", "no"].prefix(3))
    func `switches discovery off, however YAML reads the word`(word: String) throws {
        let configuration = try load(Self.least + "home_assistant: {discovery: \(word)}\n")
        #expect(configuration.homeAssistant.discovery == .off)
    }

    @Test(arguments: [
        ("", "mqtt.url: url is missing; write mqtt://127.0.0.1:1883, or mqtts://HOST:8883 for TLS."),
        ("mqtt: {url: localhost}", "1: mqtt.url: The broker's URL does not begin with mqtt:// or mqtts://."),
        ("mqtt: {url: mqtt://anna:pw@host}", "1: mqtt.url: The broker's URL contains a user"),
        ("mqtt: {url: []}", "1: mqtt.url: A list of texts is needed here"),
        (least + "gateway: {id: My Home}", "2: gateway.id: An id has 1 to 64 of a-z, 0-9, _ and -"),
        (least + "gateway: {id: gateway}", "2: gateway.id: gateway is the gateway's own place in the topics"),
        (least + "gateway: {timezone: Europe/Bärlin}", "2: gateway.timezone: There is no time zone Europe/Bärlin."),
        (least + "log: {level: loud}", "2: log.level: One of trace, debug, info"),
        (least + "store: {outbox: {max_size: 1}}", "2: store.outbox.max_size: A size is needed here"),
        (least + "store: {outbox: {max_size: 1MiB}}", "2: store.outbox.max_size: A size from 16MiB to 1TiB"),
        (least + "store: {outbox: {max_age: 5m}}", "2: store.outbox.max_age: A duration from 1h to 3650d"),
        (
            least + "store: {retention: {samples: never}}",
            "2: store.retention.samples: A duration from 1d to 36500d, or forever"
        ),
        (least + "home_assistant: {discovery: maybe}", "2: home_assistant.discovery: One of device, component, off"),
        (
            least + "home_assistant: {compatibility: 2024.12}",
            "2: home_assistant.compatibility: The version must be in quotes"
        ),
        (
            least + "home_assistant: {compatibility: \"2024.13\"}",
            "2: home_assistant.compatibility: A version of Home Assistant"
        ),
        (
            least + "home_assistant: {compatibility: \"2024.10\"}",
            "2: home_assistant.compatibility: Home Assistant before 2024.12"
        ),
        (
            least + "home_assistant: {prefix: vitals2mqtt}",
            "2: home_assistant.prefix: The discovery prefix vitals2mqtt and mqtt.base_topic"
        ),
        ("mqtt: {url: mqtt://h, base_topic: a/#}", "1: mqtt.base_topic: The base topic must not have the wildcards"),
        ("mqtt: {url: mqtt://h, protocol: 4}", "1: mqtt.protocol: One of auto, 5, 3.1.1"),
        ("mqtt: {url: mqtt://h, keep_alive: 1s}", "1: mqtt.keep_alive: A duration from 5s to 65535s"),
        ("mqtt: {url: mqtt://h, keep_alive: 5500ms}", "1: mqtt.keep_alive: Whole seconds are needed here."),
        ("mqtt: {url: mqtt://h, tls: {}}", "1: mqtt.tls: tls does nothing here: no url begins with mqtts://."),
        (
            "mqtt: {url: mqtts://h, tls: {ca_file: ca.pem}}",
            "1: mqtt.tls.ca_file: /nowhere/ca.pem cannot be read: it does not exist."
        ),
        (least + "mqttt: 1", "2: mqttt: There is no such key."),
        ("- 1\n- 2\n", "1: Keys and values are expected here."),
    ])
    func `says what is wrong, and where`(text: String, issue: String) {
        let found = issues(text)
        #expect(found.contains { $0.hasPrefix(issue) || $0.hasPrefix("1: " + issue) }, "\(found)")
    }

    @Test func `refuses devices whose entities Home Assistant could not distinguish, where it gets both`() throws {
        let devices = """
            devices: [{id: band, driver: toy},
             {id: band_resting, driver: toy}, {id: band_2, driver: toy}]

            """
        let found = issues(Self.least + devices)
        #expect(found.count == 1)
        #expect(
            found.first?.hasPrefix(
                "3: devices[1].id: Home Assistant could not distinguish the entities of band_resting")
                == true, "\(found)")
        #expect(try load(Self.least + devices + "home_assistant: {discovery: off}\n").devices.count == 3)
    }

    @Test func `reports all errors at once, in the order of their lines`() {
        let found = issues(
            """
            devices:
              - id: Ring
                driver: toy
            mqtt:
              url: mqtt://h
              protocol: 6
            log: {level: 7}
            gateway: {id: My Home}
            """)
        #expect(found.map { $0.prefix(2) } == ["2:", "6:", "7:", "8:"])
    }

    @Test func `counts what is beyond a hundred errors`() {
        let keys = (0..<150).map { "key\($0): 1\n" }.joined()
        let found = issues(Self.least + keys)
        #expect(found.count == ConfigurationLimits.issues + 1)
        #expect(found.last == "There are 50 more errors.")
    }

    @Test func `takes at most sixteen brokers`() {
        let urls = (1...17).map { "mqtt://h\($0)" }.joined(separator: ", ")
        #expect(issues("mqtt: {url: [\(urls)]}") == ["1: mqtt.url: At most 16 texts are taken here."])
    }

    @Test func `says which changes need a restart`() throws {
        let before = try load(Self.least)
        let moved = try load("\n# moved\n" + Self.least + "log: {level: debug}\n")
        let other = try load("mqtt: {url: mqtt://127.0.0.2}\nstore: {path: x.sqlite}\n")
        #expect(moved.sectionsThatNeedRestart(comparedWith: before) == [])
        #expect(other.sectionsThatNeedRestart(comparedWith: before) == ["mqtt", "store"])
    }

    @Test func `a password that changed in its file needs a restart`() throws {
        try withFolder { folder in
            let text = "mqtt: {url: mqtt://127.0.0.1, username: vitals, password: {file: pw}}\n"
            try write("old\n", to: "pw", in: folder)
            let before = try load(text, in: folder)
            #expect(before.sectionsThatNeedRestart(comparedWith: try load(text, in: folder)) == [])
            try write("new\n", to: "pw", in: folder)
            #expect(before.sectionsThatNeedRestart(comparedWith: try load(text, in: folder)) == ["mqtt"])
        }
    }

    @Test(arguments: [
        ("homeassistant", false), ("homeassistant/x", false), ("homeassistant/x/y", false), ("homeassistant2", true),
        ("x/homeassistant", true),
    ])
    func `takes no base topic where Home Assistant looks for announcements`(base: String, isTaken: Bool) throws {
        let text = "mqtt: {url: mqtt://127.0.0.1, base_topic: \(base)}\nhome_assistant: {prefix: homeassistant}\n"
        let issue =
            "1: mqtt.base_topic: The discovery prefix homeassistant and mqtt.base_topic must not be the same, nor the latter "
            + "inside it."
        #expect(issues(text) == (isTaken ? [] : [issue]))
        let off = text.replacing("{prefix", with: "{discovery: off, prefix")
        #expect(try load(off).mqtt.baseTopic == base)
    }
}
