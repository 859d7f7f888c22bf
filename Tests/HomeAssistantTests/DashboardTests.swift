import HomeAssistant
import JSON
import MQTT
import Testing
import Vitals

/// The dashboard as a structure; that Home Assistant shows it is tried by `Tests/Campaigns/home-assistant`.
@Suite struct DashboardTests {
    private static func dashboard(
        _ devices: [DiscoveredDevice], _ entities: DashboardEntities = .proposed,
        _ discovery: Discovery = Devices.discovery()
    ) -> JSONValue { .array(discovery.dashboard(of: devices, entities: entities).views) }

    /// The entities of a device's discovery message: the proposed ids of those that are enabled, by `unique_id`.
    private static func announced(
        _ device: DiscoveredDevice, _ discovery: Discovery = Devices.discovery(), enabled isEnabled: Bool = true
    ) throws -> [String: String] {
        let message = try #require(discovery.messages(for: device).first)
        let components = try #require(try JSONValue(parsing: message.payload)["components"]?.asObject)
        return components.reduce(into: [:]) { ids, component in
            guard let unique = component.value["unique_id"]?.asString,
                let id = component.value["default_entity_id"]?.asString,
                !isEnabled || component.value["enabled_by_default"] != false
            else { return }
            ids[unique] = id
        }
    }

    /// Every id of an entity that occurs in a view, in templates, too.
    private static func named(_ value: JSONValue) -> Set<String> {
        switch value {
        case .string(let text): Set(text.matches(of: /\b[a-z_]+\.vitals2mqtt_[a-z0-9_]+/).map { String($0.output) })
        case .array(let elements): elements.reduce(into: []) { $0.formUnion(named($1)) }
        case .object(let members): members.reduce(into: []) { $0.formUnion(named($1.value)) }
        case .null, .bool, .number: []
        }
    }

    private static func cards(_ value: JSONValue, _ type: String) -> [JSONValue] {
        switch value {
        case .array(let elements): elements.flatMap { cards($0, type) }
        case .object(let members):
            (value["type"]?.asString == type ? [value] : []) + members.flatMap { cards($0.value, type) }
        case .null, .bool, .number, .string: []
        }
    }

    @Test(arguments: [HomeAssistantVersion.deviceDiscovery, .timePlatform])
    func `every entity of a view is announced for its device, and enabled`(version: HomeAssistantVersion) throws {
        let discovery = Devices.discovery(compatibility: version)
        for device in [Devices.band, Devices.cuff] {
            let named = Self.named(Self.dashboard([device], .proposed, discovery))
            let announced = Set(try Self.announced(device, discovery).values)
            #expect(!named.isEmpty)
            #expect(named.subtracting(announced) == [])
        }
    }

    @Test func `what a device shows by default is in its views, but for what only repeats it`() throws {
        let named = Self.named(Self.dashboard([Devices.band]))
        let left = Set(try Self.announced(Devices.band).values).subtracting(named)
        #expect(left == ["sensor.vitals2mqtt_home_band_1_resting_heart_rate_today"])
    }

    @Test func `with a registry the entities have the ids of the registry, and no other entity is named`() throws {
        let everything = try Self.announced(Devices.band, enabled: false)
        let renamed = everything.mapValues { "\($0)_of_anna" }
        let all = Self.named(Self.dashboard([Devices.band], .registered(renamed)))
        #expect(!all.isEmpty && all.isSubset(of: Set(renamed.values)))
        // One that is disabled is not in the list, and one that its owner enabled is.
        let rule = "vitals2mqtt_home_band-1_alert_heart_rate_resting_high"
        let few = [rule: try #require(renamed[rule])]
        #expect(Self.named(Self.dashboard([Devices.band], .registered(few))) == [])
        let two = few.merging(["vitals2mqtt_home_band-1_alert": "event.bell"]) { $1 }
        let view = try #require(Self.dashboard([Devices.band], .registered(two))[0])
        #expect(Self.cards(view, "logbook").map { $0["target"]?["entity_id"] } == [["event.bell"]])
        #expect(Self.cards(view, "entities").map { $0["entities"]?[0]?["entity"]?.asString } == [few[rule]])
    }

    @Test func `an entity with the key of another platform is not named`() {
        let unique = "vitals2mqtt_home_band-1_heart_rate"
        #expect(Self.named(Self.dashboard([Devices.band], .registered([unique: "text.pulse"]))) == [])
        #expect(Self.cards(Self.dashboard([Devices.band], .registered([unique: "text.pulse"])), "tile") == [])
        let tiles = Self.cards(Self.dashboard([Devices.band], .registered([unique: "sensor.pulse"])), "tile")
        #expect(tiles.map { $0["entity"] } == ["sensor.pulse"])
    }

    @Test func `the first view has values, today, plots, nights and alerts in this order, and fills its rows`() throws {
        let view = try #require(Self.dashboard([Devices.band, Devices.cuff])[0])
        #expect(view["path"] == "vitals" && view["type"] == "sections" && view["subview"] == nil)
        let sections = view["sections"]?.asArray ?? []
        let headings = sections.map { Self.cards($0, "heading").compactMap { $0["heading"]?.asString } }
        #expect(
            headings == [
                ["Anna's band", "Today"], ["Anna's band: last 30 days"], ["Anna's band: nights"],
                ["Anna's band: alerts"],
                ["Cuff"], ["Cuff: last 30 days"], ["Cuff: alerts"],
            ])
        // Rows of three columns.
        #expect(sections.map { $0["column_span"]?.asInt ?? 1 } == [3, 3, 1, 2, 1, 1, 1])
        // A device without nights and alerts fills its row with plots.
        let scale = DiscoveredDevice(
            DeviceInfo(
                id: Devices.id("scale"), name: "Scale", driver: "simulator",
                capabilities: Capabilities([.weight: .history])))
        let alone = Self.dashboard([scale])[0]?["sections"]?.asArray ?? []
        #expect(alone.map { $0["column_span"]?.asInt ?? 1 } == [1, 2])
        #expect(Self.cards(.array(alone), "heading").map { $0["heading"] } == ["Scale", "Last 30 days"])
    }

    @Test func `plots have what their statistics have`() throws {
        let view = try #require(Self.dashboard([Devices.band])[0])
        let plots = Self.cards(view, "statistics-graph")
        func types(_ title: String) -> JSONValue? { plots.first { $0["title"]?.asString == title }?["stat_types"] }
        #expect(types("Heart rate") == ["mean", "min", "max"])
        #expect(types("Blood pressure") == ["mean"])
        #expect(types("Steps") == ["change"])
        #expect(types("Sleep") == ["max"])
        #expect(plots.allSatisfy { $0["period"] == "day" && $0["days_to_show"] == 30 })
        let year = try #require(Self.dashboard([Devices.band])[1])
        #expect(Self.cards(year, "statistics-graph").count == plots.count)
        #expect(Self.cards(year, "statistics-graph").allSatisfy { $0["period"] == "week" })
    }

    @Test func `every link of a heading leads to a subview`() throws {
        let views = Self.dashboard([Devices.band, Devices.cuff]).asArray ?? []
        let paths = Set(views.filter { $0["subview"] == true }.compactMap { $0["path"]?.asString })
        let links = Self.cards(.array(views), "heading").compactMap { $0["tap_action"]?["navigation_path"]?.asString }
        #expect(paths == ["band-1-settings", "band-1-year", "cuff-settings", "cuff-year"])
        #expect(Set(links) == paths)
    }

    @Test func `a device that was never connected has no place`() {
        let views = Self.dashboard([Devices.unknown]).asArray ?? []
        #expect(views.map { $0["sections"] } == [[]])
    }
}
