import Contract
import HomeAssistant
import JSON
import MQTT
import Testing
import Vitals

@Suite struct DiscoveryModeTests {
    @Test func `publishes the gateway first, and nothing of a device that never connected`() {
        let messages = Devices.discovery().messages(devices: [Devices.unknown, Devices.band, Devices.cuff])
        #expect(
            messages.map(\.topic) == [
                "homeassistant/device/vitals2mqtt_home_gateway/config",
                "homeassistant/device/vitals2mqtt_home_band-1/config",
                "homeassistant/device/vitals2mqtt_home_cuff/config",
            ])
        #expect(messages.allSatisfy { $0.isRetained && $0.expiry == nil && $0.contentType == "application/json" })
    }

    @Test func `publishes one topic per entity in component mode, with the same entities`() throws {
        let discovery = Devices.discovery(.component)
        let messages = discovery.messages(devices: [Devices.band])
        #expect(Set(messages.map(\.topic)).count == messages.count)
        #expect(
            messages.contains { $0.topic == "homeassistant/sensor/vitals2mqtt_home_band-1/heart_rate/config" })
        let ids = try messages.map { try JSONValue(parsing: $0.payload)["unique_id"]?.asString }
        let other = try Announced.all().prefix(2).flatMap(\.components).map { $0.value["unique_id"]?.asString }
        #expect(ids == other)
        for message in messages {
            let payload = try JSONValue(parsing: message.payload)
            #expect(payload["platform"] == nil)
            #expect(payload["device"]?["identifiers"] != nil)
            #expect(payload["origin"]?["name"] == "vitals2mqtt")
        }
    }

    @Test func `publishes nothing where it is off, but can still sweep`() {
        let discovery = Devices.discovery(.off)
        #expect(discovery.messages(devices: [Devices.band]).isEmpty)
        #expect(discovery.removal(of: Devices.band).isEmpty)
        #expect(discovery.birthTopic == nil)
        #expect(!discovery.sweepFilters.isEmpty)
        #expect(Devices.discovery().birthTopic == "homeassistant/status")
    }

    @Test(arguments: [DiscoveryOptions.Mode.device, .component])
    func `empties exactly what it published of a removed device`(mode: DiscoveryOptions.Mode) {
        let discovery = Devices.discovery(mode)
        let removal = discovery.removal(of: Devices.band)
        #expect(removal.map(\.topic) == discovery.messages(for: Devices.band).map(\.topic))
        #expect(removal.allSatisfy { $0.payload.isEmpty && $0.isRetained })
    }

    @Test func `takes away the entities that a device no longer has`() throws {
        var old = Devices.cuff
        old.info.capabilities?.metrics[.stress] = [.history]
        let document = try #require(Devices.discovery().messages(for: Devices.cuff, replacing: old).first)
        let components = try JSONValue(parsing: document.payload)["components"]
        #expect(components?["stress"] == ["platform": "sensor"])
        let messages = Devices.discovery(.component).messages(for: Devices.cuff, replacing: old)
        let topic = "homeassistant/sensor/vitals2mqtt_home_cuff/stress/config"
        #expect(messages.last { $0.topic == topic }?.payload.isEmpty == true)
    }

    @Test func `lets go of entities that were announced in the other way, and of no others`() {
        let device = "homeassistant/device/vitals2mqtt_home_cuff/config"
        let component = "homeassistant/sensor/vitals2mqtt_home_cuff/firmware/config"
        #expect(Devices.discovery(.device).migration(of: device) == nil)
        #expect(Devices.discovery(.component).migration(of: component) == nil)
        for (mode, topic) in [(DiscoveryOptions.Mode.device, component), (.component, device)] {
            let message = Devices.discovery(mode).migration(of: topic)
            #expect(message?.topic == topic)
            #expect(message?.payload == Array(#"{"migrate_discovery":true}"#.utf8))
            #expect(message?.isRetained == false)
        }
    }

    @Test(arguments: [DiscoveryOptions.Mode.device, .component])
    func `sweeps its own stale topics and no other's`(mode: DiscoveryOptions.Mode) {
        let now = Devices.discovery()
        let current = Set(now.messages(devices: [Devices.band]).map(\.topic))
        for message in Devices.discovery(mode).messages(devices: [Devices.cuff]) {
            let isCurrent = current.contains(message.topic)
            #expect(now.isStale(topic: message.topic, payload: message.payload, current: current) == !isCurrent)
            #expect(!now.isStale(topic: message.topic, payload: [], current: []))
        }
        for message in Devices.discovery(mode, gateway: "home_2").messages(devices: [Devices.cuff]) {
            #expect(!now.isStale(topic: message.topic, payload: message.payload, current: current))
        }
        let foreign = Array(#"{"device":{},"state_topic":"vitals2mqtt/home/gateway/status"}"#.utf8)
        #expect(!now.isStale(topic: "homeassistant/device/other/config", payload: foreign, current: []))
        #expect(!now.isStale(topic: "homeassistant/device/vitals2mqtt_home_x/config", payload: [0xFF], current: []))
        #expect(now.isStale(topic: "homeassistant/device/vitals2mqtt_home_x/config", payload: foreign, current: []))
    }

    @Test(arguments: [
        ("2024.12", HomeAssistantVersion(year: 2024, month: 12)), ("2026.5.1", .timePlatform),
        ("2026.05", .timePlatform), ("2024", nil), ("2024.13", nil), ("2024.0", nil), ("2024.", nil), (".12", nil),
        ("2024.12.", nil), ("2024.x", nil), ("-2024.12", nil), ("2024.12.1.1", nil), ("", nil), ("+2024.1", nil),
    ])
    func `reads the release of Home Assistant`(text: String, version: HomeAssistantVersion?) {
        #expect(HomeAssistantVersion(text) == version)
    }

    @Test func `orders releases by year and month`() throws {
        #expect(HomeAssistantVersion(year: 2026, month: 4) < .timePlatform)
        #expect(HomeAssistantVersion(year: 2025, month: 12) < .timePlatform)
        #expect(HomeAssistantVersion(year: 2026, month: 11) > .timePlatform)
    }
}
