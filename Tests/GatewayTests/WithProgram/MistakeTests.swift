import BundledPlugins
import GatewayKit
import Testing

@testable import Gateway

/// What people write at first, and all that they are told.
@Suite struct MistakeTests {
    private static func device(_ entry: String) -> String { "mqtt: {url: mqtt://h}\ndevices:\n  - {\(entry)}\n" }
    private static let band = "devices: [{id: a, driver: simulator}]\n"

    private static let mistakes: [(text: String, messages: [String])] = [
        (band, ["1: mqtt.url: url is missing; write mqtt://127.0.0.1:1883, or mqtts://HOST:8883 for TLS."]),
        (
            "mqtt: {url: 192.168.1.2}\n\(band)",
            [
                """
                1: mqtt.url: The broker's URL does not begin with mqtt:// or mqtts://. Write mqtt://host:1883, or \
                mqtts://host:8883 for TLS.
                """
            ]
        ),
        (
            "mqtt: {url: \"mqtt://anna:secret@h\"}\n\(band)",
            [
                """
                1: mqtt.url: The broker's URL contains a user; user name and password have settings of their own. Write \
                mqtt://host:1883, or mqtts://host:8883 for TLS.
                """
            ]
        ),
        (
            "mqtt: {url: mqtt://h, username: anna, password: secret}\n\(band)",
            ["1: mqtt.password: A secret must not be written here. Write {file: PATH} or {env: NAME}."]
        ),
        ("mqtt:\n\turl: mqtt://h\n", ["2: YAML is indented by spaces, and there is a tab; replace it."]),
        (
            "mqtt: {url: mqtt://h}\nmqtt: {url: mqtt://h}\n",
            ["2: The same key occurs twice in one map: mqtt (lines 1 and 2). Keep one of them."]
        ),
        (
            "mqtt: {url: mqtt://h, username: a, password: !secret mqtt}\n\(band)",
            ["1: Tags such as !secret are not supported; write the value itself, or for a secret {file: PATH}."]
        ),
        (
            "mqtt: {url: mqtt://h}\n\(band)gateway: {id: a}\n  timezone: UTC\n",
            [
                """
                4: The YAML cannot be read: did not find expected key (while parsing a block mapping in line 1). This line's \
                indentation differs from the lines above, or it belongs to another section.
                """
            ]
        ),
        (
            "mqtt: {url: mqtt://h}\n\(band)gateway:\n  id: a\n    timezone: UTC\n",
            [
                """
                5: The YAML cannot be read: mapping values are not allowed in this context. Text with a colon, #, { or [ needs \
                quotes, or the indentation of this line differs from the line above.
                """
            ]
        ),
        ("mqtt: mqtt://h:1883\n\(band)", ["1: mqtt: Keys and values are expected here, such as {url: mqtt://h:1883}."]),
        (
            "mqtt: {url: mqtt://h}\nlog: debug\n\(band)",
            ["2: log: Keys and values are expected here, such as {level: debug}."]
        ),
        (
            "mqtt:\n  url: mqtt://h\n  base_topic: homeassistant/vitals\n\(band)",
            [
                """
                3: mqtt.base_topic: The discovery prefix homeassistant and mqtt.base_topic must not be the same, nor the latter \
                inside it.
                """
            ]
        ),
        (
            "mqtt: {url: mqtt://h}\ngateway: {timezone: Berlin}\n\(band)",
            [
                """
                2: gateway.timezone: There is no time zone Berlin. Write it as the IANA database does, such as \
                Europe/Berlin.
                """
            ]
        ),
        (
            "mqtt: {url: mqtt://h}\nlog: {level: verbose}\n\(band)",
            ["2: log.level: One of trace, debug, info, notice, warning, error, critical is needed here."]
        ),
        (
            "mqtt: {url: mqtt://h}\nhome_assistant: {discovery: yes}\n\(band)",
            ["2: home_assistant.discovery: One of device, component, off is needed here."]
        ),
        (
            "mqtt: {url: mqtt://h}\nfirst: all\n\(band)",
            ["2: first: There is no such key. It belongs under sync."]
        ),
        (
            "mqtt: {url: mqtt://h}\nstore: {retention: {sample: 30d}}\n\(band)",
            ["2: store.retention.sample: There is no such key. Did you mean samples?"]
        ),
        (
            "mqtt: {url: mqtt://h}\nplugins: {gadgetbrige: {poll_interval: 1m}}\n\(band)",
            [
                """
                2: plugins.gadgetbrige: There is no plugin gadgetbrige whose devices share anything. Did you mean \
                gadgetbridge? Known here: bluez, esphome, fitfiles, gadgetbridge, healthconnectexport, tcp.
                """
            ]
        ),
        (
            device("id: a, driver: simulator, opions: {model: band}"),
            ["3: devices[0].opions: There is no such key. Did you mean options?"]
        ),
        (
            device("id: a, driver: colmi"),
            [
                """
                3: devices[0].driver: There is no driver colmi. Did you mean colmi-ring? Known here: colmi-ring, documents, \
                fit-files, gadgetbridge, gatt-health, health-auto-export, health-connect-export, health-connect-webhook, \
                link, mqtt-values, nightscout, o2ring, simulator.
                """
            ]
        ),
        (
            device("id: a, driver: gadgetbridge, path: /home/anna/export"),
            [
                "3: devices[0].options: path is missing; a text is needed here.",
                "3: devices[0].path: There is no such key. It belongs under options.",
            ]
        ),
        (
            device("id: a, driver: health-auto-export, token: {env: TOKEN}, transport: {type: http}"),
            [
                "3: devices[0].transport.type: token is missing: the device's secret, as {file: PATH} or {env: NAME}.",
                "3: devices[0].token: There is no such key. It belongs under transport.",
            ]
        ),
        (
            device("id: a, driver: gatt-health, address: \"A4:C1:38:00:11:22\", transport: {type: bluez}"),
            [
                "3: devices[0].transport: address or name is missing: how the device is recognised.",
                "3: devices[0].address: There is no such key. It belongs under transport.",
            ]
        ),
        (
            device("id: a, driver: gatt-health"),
            [
                """
                3: devices[0].driver: The driver gatt-health needs a transport, such as transport: {type: …}. Fitting ones: \
                bluez, esphome, replay.
                """
            ]
        ),
        (
            device("id: a, driver: gatt-health, transport: bluez"),
            ["3: devices[0].transport: Keys and values are expected here: transport: {type: bluez, …}."]
        ),
        (
            device("id: a, driver: gatt-health, transport: {type: bluetooth}"),
            ["3: devices[0].transport.type: There is no transport bluetooth. Fitting ones: bluez, esphome, replay."]
        ),
        (
            device("id: a, driver: health-auto-export, transport: {type: http, token: {env: TOKEN}}")
                + "plugins: {http: {listen: \"127.0.0.1:8481\"}}\n",
            ["4: plugins.http: Devices post to the gateway's own listener: write web: with these keys instead."]
        ),
        (
            device("id: a, driver: gatt-health, transport: {type: http, token: {env: TOKEN}}"),
            [
                """
                3: devices[0].transport.type: The transport http carries documents, but the driver gatt-health needs gatt. \
                Fitting ones: bluez, esphome, replay.
                """
            ]
        ),
        (
            device("id: a, driver: simulator, transport: {type: exec, command: [a]}"),
            ["3: devices[0].transport: The driver simulator needs no transport; remove it."]
        ),
        (
            device("id: Anna's band, driver: simulator"),
            ["3: devices[0].id: An id has 1 to 64 of a-z, 0-9, _ and -, such as ring-1."]
        ),
        (
            device("id: a, driver: simulator, offline_after: 30"),
            ["3: devices[0].offline_after: A duration is needed here, such as 90s, 15m, 24h or 30d."]
        ),
    ]

    @Test(arguments: mistakes)
    func `a mistake is told with its line, and with what to write`(text: String, messages: [String]) throws {
        let loader = ConfigurationLoader(
            plugins: try PluginCatalogue(BundledPlugins.all), environment: ["TOKEN": "secret"])
        let error = #expect(throws: ConfigurationError.self) { try loader.load(text: text, directory: "/nowhere") }
        #expect(error?.issues.map { $0.text(file: nil) } == messages)
    }

    @Test func `a key with many places is not told any`() throws {
        var issue = ConfigurationIssue(line: 1, path: "b", message: "There is no such key.")
        issue.strangeKey = "b"
        let root = ConfigurationValue(.map([]))
        let paths = ["w.b", "x.b", "y[].b"]
        let few = KeyPlaces(paths: paths).completed(issue, in: root)
        #expect(few.message == "There is no such key. It belongs under w, or under x, or under y.")
        #expect(paths.count == KeyPlaces.maximumPlaces)
        #expect(KeyPlaces(paths: paths + ["z.b"]).completed(issue, in: root) == issue)
        // What each metric can have.
        issue.strangeKey = "heart_rate"
        #expect(KeyPlaces(try PluginCatalogue(BundledPlugins.all)).completed(issue, in: root) == issue)
    }
}
