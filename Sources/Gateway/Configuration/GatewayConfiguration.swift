package import Contract
package import Engines
import Foundation
package import GatewayKit
import HomeAssistant
package import Logging
package import Vitals

/// The configuration of a gateway: the content of the configuration file, checked and with its defaults.
package struct GatewayConfiguration: Sendable {
    /// `gateway.id`: the gateway's identifier in topics. Default `home`.
    package var id: DeviceID
    /// `gateway.timezone`: the zone of local days and schedules, as the IANA database names it. Default: the system's.
    package var calendar: LocalCalendar
    /// `log.level`: the least important messages that are logged: `trace`, `debug`, `info`, `notice`, `warning`, `error` or
    /// `critical`. Default `info`.
    package var logLevel: Logger.Level
    /// `mqtt`: the broker.
    package var mqtt: MQTTConfiguration
    /// `store`: the database.
    package var store: StoreConfiguration
    /// `home_assistant`: the announcements.
    package var homeAssistant: HomeAssistantConfiguration
    /// `devices`: the devices, in the file's order.
    package var devices: [DeviceConfiguration]
    /// `plugins`: what the devices of a plugin share, by name.
    package var services: [ServiceConfiguration]
    /// The services that can scan for devices, also those that no device uses.
    package var scanners: [ServiceConfiguration]
    /// The drivers that recognise what is found.
    package var drivers: [any DeviceDriver.Type]
    /// The engines' policy for devices without their own settings.
    package var policy: DevicePolicy
    /// Warnings about allowed but probably unintended settings, with their lines.
    package var warnings: [ConfigurationIssue]
    /// The whole file.
    package var source: ConfigurationValue

    /// The default of `gateway.id`.
    package static let defaultID = "home"

    /// The topics of this gateway.
    package var topics: ContractTopics { ContractTopics(base: mqtt.baseTopic, gateway: id) }
}

extension GatewayConfiguration {
    /// Reads a whole configuration.
    /// - Throws: all its errors.
    package init(
        _ source: ConfigurationValue, place: ConfigurationPlace, plugins: PluginCatalogue
    ) throws(ConfigurationError) {
        var reader = ConfigurationReader(source, place: place)
        try self.init(&reader, source, plugins: plugins)
    }

    /// Reads a whole configuration, or describes its keys.
    /// - Throws: all its errors.
    init(
        _ reader: inout ConfigurationReader, _ source: ConfigurationValue, plugins: PluginCatalogue
    ) throws(ConfigurationError) {
        let gateway = reader.section("gateway") { gateway in
            let id = gateway.deviceID("id", default: DeviceID(Self.defaultID))
            return (id: id, calendar: gateway.calendar("timezone"))
        }
        logLevel = reader.section("log") {
            $0.choice("level", default: Logger.Level.info, about: "The lowest level that is logged.")
        }
        mqtt = reader.section("mqtt", about: "The broker and its connection.") { mqtt in
            // A wrong id must not hide other errors.
            MQTTConfiguration(&mqtt, gateway: gateway.id?.text ?? Self.defaultID)
        }
        store = reader.section("store", about: "The database.") { StoreConfiguration(&$0) }
        let retention = store.sampleRetention
        homeAssistant = reader.section("home_assistant", about: "Announcements, and the import of statistics.") {
            HomeAssistantConfiguration(&$0, sampleRetention: retention)
        }
        if homeAssistant.discovery != .off, "\(mqtt.baseTopic)/".hasPrefix("\(homeAssistant.prefix)/") {
            reader.report(
                "The discovery prefix and mqtt.base_topic must not be the same, nor the latter inside it.",
                at: "home_assistant")
        }
        policy = DevicePolicy(&reader, defaults: DevicePolicy(calendar: gateway.calendar))
        let isAnnounced = homeAssistant.discovery != .off
        let base = mqtt.baseTopic
        var taken = TakenTopics(
            own: gateway.id.map { ContractTopics(base: base, gateway: $0) },
            discoveryPrefix: isAnnounced ? homeAssistant.prefix : nil)
        devices = reader.devices("devices", defaults: policy, plugins, areAnnounced: isAnnounced, topics: &taken)
        if devices.isEmpty { reader.warn("No device is configured.", at: "devices") }
        services = reader.services("plugins", of: devices, plugins)
        scanners = services.scanners(of: plugins, reader.place)
        drivers = plugins.drivers
        let issues = reader.finish()
        guard issues.isEmpty, let id = gateway.id else { throw ConfigurationError(issues: issues) }
        self.id = id
        self.calendar = gateway.calendar
        self.source = source
        warnings = reader.warnings
    }
}

extension ConfigurationReader {
    fileprivate mutating func calendar(_ key: String) -> LocalCalendar {
        let text = optionalString(key)
        describe(
            key, "IANA time zone", default: "the system's", about: "The zone of local days, schedules and quiet hours.")
        guard let name = text else { return LocalCalendar(timeZone: .current) }
        guard let calendar = LocalCalendar(identifier: name) else {
            report("There is no time zone \(name). Write it as the IANA database does, such as Europe/Berlin.", at: key)
            return LocalCalendar(timeZone: .gmt)
        }
        return calendar
    }

    fileprivate mutating func devices(
        _ key: String, defaults: DevicePolicy, _ plugins: PluginCatalogue, areAnnounced: Bool,
        topics: inout TakenTopics
    ) -> [DeviceConfiguration] {
        let list = value(key)
        var sources: [ConfigurationValue] =
            switch list?.content {
            case .list(let values)?: values
            case .map?: [list].compactMap(\.self)
            default: []
            }
        sources.reverse()
        var seen: [DeviceID: Int] = [:]
        var uniqueIDs = UniqueIDs()
        var addresses = TakenAddresses()
        return sections(key, limit: ConfigurationLimits.devices) { reader -> DeviceConfiguration? in
            let source = sources.popLast() ?? ConfigurationValue(.null)
            let id = reader.deviceID("id")
            // Reported even if the entry has other errors: the user gets all errors at once.
            if let id {
                if let line = seen[id] {
                    reader.report("Line \(line) has the id \(id) already. Give each device its own.", at: "id")
                }
                seen[id] = reader.line(of: "id")
                if areAnnounced, let other = uniqueIDs.add(id) {
                    reader.report(
                        "Home Assistant could not distinguish the entities of \(id) and \(other). Choose another id, such "
                            + "as one with - instead of _.", at: "id")
                }
            }
            let device = DeviceConfiguration(&reader, id: id, source: source, defaults: defaults, plugins)
            for topic in device?.transport?.topics ?? [] {
                if let issue = topics.add(topic, of: id) { reader.report(issue, at: "transport") }
            }
            if let transport = device?.transport, let issue = addresses.add(transport, of: id) {
                reader.report(issue, at: "transport")
            }
            return device
        }.compactMap(\.self)
    }
}

/// Checks the addresses of devices: no two devices of a transport may have the same.
struct TakenAddresses {
    private struct Address: Hashable {
        let transport: String
        let text: String
    }

    private var devices: [Address: DeviceID] = [:]

    /// Takes the transport's address for a device. Returns what is wrong with it, with the remedy.
    mutating func add(_ transport: any Transport, of device: DeviceID?) -> String? {
        guard let text = transport.address else { return nil }
        let address = Address(transport: type(of: transport).name, text: text)
        if let other = devices[address] {
            return "The address \(text) is that of \(other) already. Give each device its own."
        }
        devices[address] = device
        return nil
    }
}

/// Checks the topics of devices whose documents come as messages: no two devices may share one.
struct TakenTopics {
    /// The gateway's; `nil` if its id is wrong.
    let own: ContractTopics?
    /// The prefix of Home Assistant's discovery, if it is used.
    let discoveryPrefix: String?
    private var devices: [String: DeviceID] = [:]

    init(own: ContractTopics?, discoveryPrefix: String?) {
        self.own = own
        self.discoveryPrefix = discoveryPrefix
    }

    /// Takes a topic for a device. Returns what is wrong with it, with the remedy.
    mutating func add(_ topic: String, of device: DeviceID?) -> String? {
        // A missing one is an error of the transport already.
        if topic.isEmpty { return nil }
        if let issue = own?.issue(inResponseTopic: topic, discoveryPrefix: discoveryPrefix) {
            return "The topic \(topic) \(issue). Choose one of the device's own, such as phones/anna."
        }
        if let other = devices[topic] {
            return "The topic \(topic) is that of \(other) already. Give each device its own."
        }
        devices[topic] = device
        return nil
    }
}
