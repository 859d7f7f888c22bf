package import Contract
package import Engines
import Foundation
package import GatewayKit
import HomeAssistant
import Listening
package import Logging
package import Vitals
package import Web

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
    /// `web`: the gateway's own listener; `nil` without this section, unless a device posts: it does not listen.
    package var web: WebConfiguration?
    /// `devices`: the devices, in the file's order, and then those of `devices_from`, in the order of their files.
    package var devices: [DeviceConfiguration]
    /// The entries of both that are no devices: others are made of them, one for each part of a topic.
    package var templates: [DeviceConfiguration]
    /// Where such devices are written; `nil` if the configuration is no file.
    var deviceFiles: DeviceFiles?
    /// `devices_from`: the folder, as it was before it was read. Default: none.
    var deviceFolder: DeviceFolderMark?
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
    /// Reads a whole configuration, with the folder of `devices_from` if it names one.
    /// - Throws: all its errors.
    init(
        _ source: ConfigurationValue, _ folder: DeviceFolder?, place: ConfigurationPlace, plugins: PluginCatalogue
    ) throws(ConfigurationError) {
        var reader = ConfigurationReader(source, place: place)
        try self.init(&reader, source, folder, plugins: plugins)
    }

    /// Reads a whole configuration, or describes its keys.
    /// - Throws: all its errors.
    init(
        _ reader: inout ConfigurationReader, _ source: ConfigurationValue, _ folder: DeviceFolder? = nil,
        plugins: PluginCatalogue
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
            let places = [("mqtt", "base_topic"), ("home_assistant", "prefix")].compactMap { section, key in
                reader.value(section)?[key].map { (path: "\(section).\(key)", line: $0.line) }
            }
            // One of them is not the default.
            let place = places.first ?? (path: "mqtt.base_topic", line: reader.line)
            reader.adopt([
                ConfigurationIssue(
                    line: place.line, path: place.path,
                    message:
                        "The discovery prefix \(homeAssistant.prefix) and mqtt.base_topic must not be the same, nor the "
                        + "latter inside it.")
            ])
        }
        policy = DevicePolicy(&reader, defaults: DevicePolicy(calendar: gateway.calendar))
        let isAnnounced = homeAssistant.discovery != .off
        let base = mqtt.baseTopic
        let topics = TakenTopics(
            own: gateway.id.map { ContractTopics(base: base, gateway: $0) },
            discoveryPrefix: isAnnounced ? homeAssistant.prefix : nil)
        var list = DeviceList(
            defaults: policy, plugins: plugins, areAnnounced: isAnnounced, topics: topics, hasFolder: folder != nil)
        let entries = list.devices("devices", of: &reader) + list.devices(of: folder, DeviceFolder.key, &reader)
        devices = entries.filter { $0.template == nil }
        templates = entries.filter { $0.template != nil }
        deviceFolder = folder?.mark
        // Whoever posts needs a listener, and nothing else.
        let isPostedTo = devices.contains { $0.transport is any PostTransport }
        web =
            reader.has("web") || isPostedTo
            ? reader.section("web", about: "The gateway's own listener; none without it and without type: http.") {
                let web = WebConfiguration(&$0)
                web.access.check(web.listen, hasTokens: isPostedTo || !web.tokens.tokens.isEmpty, &$0)
                return web
            } : nil
        if entries.isEmpty { reader.warn("No device is configured.", at: "devices") }
        services = reader.services("plugins", of: devices, plugins, beside: web?.listen.address)
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
    mutating func calendar(_ key: String) -> LocalCalendar {
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
}
