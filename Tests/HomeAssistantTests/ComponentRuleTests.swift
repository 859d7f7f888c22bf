import Contract
import HomeAssistant
import JSON
import MQTT
import Testing
import Vitals

/// Rules of Home Assistant or of the contract for every entity.
@Suite struct ComponentRuleTests {
    static let versions: [HomeAssistantVersion] = [.deviceDiscovery, .timePlatform]
    /// The required and the optional keys of each platform.
    static let keys: [String: (required: Set<String>, optional: Set<String>)] = [
        "binary_sensor": (
            ["state_topic", "payload_on", "payload_off"],
            ["value_template", "device_class", "json_attributes_topic", "json_attributes_template"]
        ),
        "button": (["command_topic"], ["payload_press"]),
        "event": (["state_topic", "event_types"], ["value_template"]),
        "number": (
            ["state_topic", "value_template", "command_topic", "command_template", "min", "max", "step", "mode"],
            ["unit_of_measurement"]
        ),
        "sensor": (
            ["state_topic", "value_template"],
            [
                "unit_of_measurement", "state_class", "last_reset_value_template", "device_class", "expire_after",
                "suggested_display_precision", "options", "json_attributes_topic", "json_attributes_template",
            ]
        ),
        "switch": (
            [
                "state_topic", "value_template", "command_topic", "payload_on", "payload_off", "state_on", "state_off",
            ], []
        ),
        "text": (["state_topic", "value_template", "command_topic", "command_template", "pattern", "max"], []),
        "time": (["state_topic", "value_template", "command_topic", "command_template"], []),
    ]
    static let common: Set<String> = ["platform", "unique_id", "default_entity_id", "name", "qos"]
    static let commonOptional: Set<String> = [
        "availability", "availability_mode", "entity_category", "icon", "enabled_by_default",
    ]

    @Test(arguments: versions)
    func `gives each entity what its platform needs, and nothing else`(version: HomeAssistantVersion) throws {
        var seen: Set<String> = []
        for (key, value) in try Announced.components(version) {
            let platform = try #require(value["platform"]?.asString)
            seen.insert(platform)
            let allowed = try #require(Self.keys[platform])
            let own = Set(try #require(value.asObject).map(\.key))
            #expect(own.isSuperset(of: Self.common.union(allowed.required)), "\(key)")
            #expect(
                own.isSubset(
                    of: Self.common.union(allowed.required).union(allowed.optional).union(Self.commonOptional)),
                "\(key)")
            // Home Assistant refuses an entity with a member that is null.
            #expect(value.asObject?.contains { $0.value.isNull } == false, "\(key)")
            #expect(value["qos"] == 1)
            #expect(value["default_entity_id"]?.asString?.hasPrefix("\(platform).") == true)
            #expect(value["default_entity_id"]?.asString?.contains("-") == false)
        }
        let schedule = version < .timePlatform ? "text" : "time"
        #expect(seen == Set(Self.keys.keys).subtracting(["text", "time"]).union([schedule]))
    }

    @Test(arguments: versions)
    func `uses each unique id, each entity id and each name of a device once`(version: HomeAssistantVersion) throws {
        let components = try Announced.components(version).map(\.value)
        #expect(Set(components.map { $0["unique_id"] }).count == components.count)
        #expect(Set(components.map { $0["default_entity_id"] }).count == components.count)
        for device in try Announced.all(version) {
            #expect(Set(device.components.map { $0.value["name"] }).count == device.components.count)
        }
    }

    @Test func `makes unique ids of gateway, device and key`() throws {
        let band = try #require(try Announced.all().dropFirst().first)
        for (key, value) in band.components {
            #expect(value["unique_id"] == .string("vitals2mqtt_home_band-1_\(key)"))
        }
    }

    @Test func `has only keys that Home Assistant knows at the root, in device and in origin`() throws {
        for document in try Announced.all() {
            #expect(document.root.asObject?.map(\.key) == ["device", "origin", "components"])
            #expect(document.root["origin"]?.asObject?.map(\.key) == ["name", "sw_version", "support_url"])
            let known: Set = [
                "identifiers", "connections", "name", "manufacturer", "model", "serial_number", "sw_version",
                "hw_version",
                "via_device",
            ]
            let device = try #require(document.root["device"]?.asObject)
            #expect(Set(device.map(\.key)).isSubset(of: known))
            #expect(device.allSatisfy { !$0.value.isNull })
        }
    }

    /// Data entities need the gateway and the device; all others only the gateway.
    static let values: Set = [
        "heart_rate", "resting_heart_rate", "blood_pressure_systolic", "blood_pressure_diastolic", "blood_oxygen",
        "stress", "temperature", "steps", "distance", "energy", "sleep", "battery", "last_sleep", "last_workout",
        "resting_heart_rate_today", "charging", "worn", "rssi", "heart_rate_variability", "respiratory_rate",
        "skin_temperature", "weight", "blood_glucose", "vo2_max", "body_fat", "lean_mass", "height", "body_mass_index",
        "heart_rate_recovery", "walking_heart_rate", "noise_exposure",
    ]
    static let ofToday = [
        "_today", "_lowest", "_highest", "_mean", "_zone_1", "_zone_2", "_zone_3", "_zone_4", "_zone_5",
    ]

    private static func needsDevice(_ key: String) -> Bool {
        values.contains(key) || ofToday.contains { key.hasSuffix($0) }
    }

    @Test func `needs the device for values, and only the gateway for the rest`() throws {
        for document in try Announced.all().dropFirst() {
            for (key, value) in document.components {
                let topics = try #require(value["availability"]?.asArray).filter { $0["value_template"] == nil }
                #expect(topics.count == (Self.needsDevice(key) ? 2 : 1), "\(key)")
                #expect(value["availability_mode"] == "all")
                #expect(value["availability"]?[0]?["topic"] == "vitals2mqtt/home/gateway/status")
            }
        }
    }

    @Test func `takes a schedule's text away while there is none, since it would not fit its pattern`() throws {
        for (key, value) in try Announced.components() where value["platform"] == "text" {
            let presence = try #require(value["availability"]?[1])
            #expect(presence["topic"] == value["state_topic"])
            let path = try #require(MonitorSetting.all.first { $0.path.replacing(".", with: "_") == key }).path
            #expect(presence["value_template"] == .string("{{ 'online' if value_json.\(path) else 'offline' }}"))
        }
    }

    @Test func `takes the texts away in whose place there are times, where that is understood`() throws {
        for device in try Announced.all(.timePlatform) {
            let times = device.components.filter { $0.value["platform"] == "time" }
            #expect(device.removed == Dictionary(uniqueKeysWithValues: times.map { ($0.key, "text") }))
            for (key, value) in times { #expect(value["unique_id"]?.asString?.hasSuffix("_\(key)") == true) }
        }
        #expect(try Announced.all().allSatisfy { $0.removed.isEmpty })
    }

    @Test func `expires with the freshness that the device itself has for the metric, in whole seconds`() throws {
        let expiries = try Announced.all().dropFirst().map { device in
            Dictionary(
                uniqueKeysWithValues: device.components.compactMap { component in
                    component.value["expire_after"].map { (component.key, $0) }
                })
        }
        #expect(expiries == [["heart_rate": 1800, "temperature": 2], [:]])
    }

    @Test func `leaves a class out for a Home Assistant that does not know it`() throws {
        var meter = Devices.cuff
        meter.info.capabilities = Capabilities([.bloodGlucose: [.history], .weight: [.history]])
        func classes(_ month: Int) throws -> [JSONValue?] {
            let version = HomeAssistantVersion(year: 2024, month: month)
            let messages = Devices.discovery(.component, compatibility: version).messages(for: meter)
            return try ["blood_glucose", "weight"].map { key in
                let message = try #require(messages.first { $0.topic.hasSuffix("_cuff/\(key)/config") })
                return try JSONValue(parsing: message.payload)["device_class"]
            }
        }
        #expect(try classes(12) == ["blood_glucose_concentration", "weight"])
        #expect(try classes(11) == [nil, "weight"])
    }

    @Test func `announces of a cuff only what a cuff can`() throws {
        let cuff = try #require(try Announced.all().last)
        let keys = Set(cuff.components.map(\.key))
        #expect(keys.allSatisfy { !$0.contains("heart_rate") && !$0.contains("battery") && !$0.contains("steps") })
        let wanted: Set = [
            "blood_pressure_systolic", "blood_pressure_diastolic", "last_sync", "firmware", "alert",
            "alert_blood_pressure_systolic_high", "alert_blood_pressure_diastolic_low", "measure_blood_pressure",
            "sync_now", "reconnect", "blood_pressure_schedule_start", "blood_pressure_alert_systolic_upper",
        ]
        #expect(keys.isSuperset(of: wanted))
    }

    @Test func `shows what a device says of its days where it keeps no records, and lets it be read again`() throws {
        var scale = Devices.cuff
        scale.info.capabilities = Capabilities([.steps: [.summary], .sleep: [.summary, .history]])
        let message = try #require(Devices.discovery().messages(for: scale).first)
        let components = try #require(try JSONValue(parsing: message.payload)["components"])
        let day = "(value_json.device_summary or value_json)"
        #expect(components["steps"]?["value_template"] == .string("{{ \(day).total }}"))
        #expect(
            components["energy"]?["value_template"]
                == .string(
                    "{{ \(day).energy_kcal if \(day).energy_kcal is not none else (0 if not \(day).total else none) }}")
        )
        #expect(components["sleep"]?["value_template"] == "{{ value_json.total }}")
        scale.info.capabilities = Capabilities([.steps: [.summary]])
        let keys = Devices.discovery(.component).messages(for: scale).map(\.topic)
        #expect(keys.contains("homeassistant/button/vitals2mqtt_home_cuff/sync_now/config"))
        #expect(keys.contains("homeassistant/sensor/vitals2mqtt_home_cuff/last_sync/config"))
        scale.info.capabilities = Capabilities([.steps: []])
        let none = Devices.discovery(.component).messages(for: scale).map(\.topic)
        #expect(!none.contains { $0.contains("sync") })
    }

    @Test func `announces the level of each rule that can be passed, and shows those that are watched`() throws {
        let band = try #require(try Announced.all().dropFirst().first)
        let levels = band.components.filter { $0.key.hasPrefix("alert_") && $0.value["platform"] == "binary_sensor" }
        let shown = levels.filter { $0.value["enabled_by_default"] == nil }
        #expect(
            shown.map(\.key) == ["alert_heart_rate_resting_high", "alert_heart_rate_resting_low", "alert_stress_high"])
        #expect(
            shown.compactMap { $0.value["name"] } == ["Heart rate high", "Heart rate low", "Stress high"])
        let gone = Set(AlertRule.all.map { "alert_\($0.name)" }).subtracting(levels.map(\.key))
        #expect(gone == ["alert_blood_oxygen_high", "alert_stress_low"])
        #expect(
            levels.contains { $0.key == "alert_blood_oxygen_low" && $0.value["enabled_by_default"] == false })
    }

    @Test func `announces no level before it is known which limits there are`() throws {
        let message = try #require(Devices.discovery().messages(for: DiscoveredDevice(Devices.cuff.info)).first)
        let components = try JSONValue(parsing: message.payload)["components"]
        #expect(components?["alert"] != nil)
        #expect(components?["alert_blood_pressure_systolic_high"] == nil)
    }

    @Test func `says of every number how many decimals are shown`() throws {
        for (key, value) in try Announced.components() where value["platform"] == "sensor" {
            let isNumber = value["unit_of_measurement"] != nil || value["state_class"] != nil
            #expect((value["suggested_display_precision"] != nil) == (isNumber || key.hasPrefix("stress")), "\(key)")
        }
        let all = Dictionary(try Announced.components().map { ($0.key, $0.value) }) { first, _ in first }
        #expect(all["temperature"]?["suggested_display_precision"] == 1)
        #expect(all["blood_pressure_systolic"]?["suggested_display_precision"] == 0)
    }

    @Test func `starts a total anew with the day, and only a total`() throws {
        var totals: [String] = []
        for (key, value) in try Announced.components() {
            let isTotal = value["state_class"] == "total"
            #expect(value["state_class"] != "total_increasing", "\(key)")
            #expect(value["last_reset_value_template"] == (isTotal ? "{{ value_json.day_start }}" : nil), "\(key)")
            if isTotal { totals.append(key) }
        }
        #expect(
            totals.sorted() == [
                "active_energy_today", "basal_energy_today", "carbohydrates_today", "dietary_energy_today", "distance",
                "distance_today", "energy", "exercise_minutes_today", "fat_today", "floors_today", "hydration_today",
                "protein_today", "stand_hours_today", "steps", "total_energy_today",
            ])
    }

    @Test func `hides what few want to see until it is asked for`() throws {
        let band = try #require(try Announced.all().dropFirst().first)
        let hidden = band.components.filter { $0.value["enabled_by_default"] == false }.map(\.key)
        for key in ["heart_rate_lowest", "blood_pressure_systolic_highest", "temperature_mean", "sync_progress"] {
            #expect(hidden.contains(key))
        }
        for key in ["heart_rate", "steps", "last_sleep", "last_workout", "resting_heart_rate_today", "measurement"] {
            #expect(!hidden.contains(key))
            #expect(band.components.contains { $0.key == key })
        }
    }

    @Test func `shows worn, charging and the signal only where the device reported them`() throws {
        var device = Devices.band
        device.info.features = .battery
        let reported = ["worn", "charging", "rssi"]
        let message = try #require(Devices.discovery().messages(for: device, replacing: Devices.band).first)
        let components = try JSONValue(parsing: message.payload)["components"]
        for key in reported { #expect(components?[key]?.asObject?.map(\.key) == ["platform"]) }
    }

    @Test func `lists each rule of the device and the clearing as event types`() throws {
        let cuff = try #require(try Announced.all().last)
        let event = try #require(cuff.components.first { $0.key == "alert" })
        #expect(
            event.value["event_types"] == [
                "blood_pressure_systolic_high", "blood_pressure_systolic_low", "blood_pressure_diastolic_high",
                "blood_pressure_diastolic_low", "alert_cleared",
            ])
    }

    @Test func `announces what a device warns of as events of their own, and only if it does`() throws {
        func events(_ key: String, _ abilities: Abilities) throws -> [JSONValue]? {
            var phone = Devices.cuff
            phone.info.capabilities = Capabilities([.heartRate: abilities])
            let message = try #require(Devices.discovery().messages(for: phone).first)
            return try JSONValue(parsing: message.payload)["components"]?[key]?["event_types"]?.asArray
        }
        let names = AlertRule.warnings.map { JSONValue.string($0.name) }
        let limits: [JSONValue] = ["heart_rate_resting_high", "heart_rate_resting_low"]
        #expect(try events("warning", .warnings) == names)
        #expect(try events("alert", .warnings) == limits + names + ["alert_cleared"])
        #expect(try events("warning", []) == nil)
        #expect(try events("alert", []) == limits + ["alert_cleared"])
    }
}
