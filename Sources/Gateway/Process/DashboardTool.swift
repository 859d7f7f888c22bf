import GatewayKit
import HomeAssistant
import HomeAssistantStatistics
import JSON
import Store
import Vitals

/// Makes the text of a dashboard from a configuration, the store that it names, and Home Assistant's registry.
package struct DashboardTool: Sendable {
    /// A dashboard for a person to paste.
    package struct Result: Sendable {
        /// YAML of a dashboard's configuration.
        package var text: String
        /// What is not in it, one line each.
        package var notes: String
    }

    private let configuration: GatewayConfiguration

    /// The devices of a configuration file.
    /// - Throws: `ConfigurationError` if the file has errors.
    package init(configuration file: String, with plugins: PluginCatalogue) throws(ConfigurationError) {
        configuration = try ConfigurationLoader(plugins: plugins).load(file)
    }

    /// Makes it.
    /// - Parameters:
    ///   - names: the ids of devices; all if there is none.
    ///   - isAsking: whether Home Assistant is asked for the ids of entities if its address is configured.
    package func make(of names: [String], asking isAsking: Bool) async throws(ToolFailure) -> Result {
        guard configuration.homeAssistant.discovery != .off else {
            throw ToolFailure(
                "home_assistant.discovery is off: Home Assistant has no entities of these devices to show."
            )
        }
        let devices = try chosen(names)
        let (known, unknown) = try profiles(of: devices)
        var notes = unknown.map { "\($0) is skipped: it was never connected, so its abilities are unknown." }
        guard !known.isEmpty else {
            throw ToolFailure(
                "No device was ever connected, by the store \(configuration.store.path). "
                    + "Run the gateway until the devices were connected once.")
        }
        let entities = isAsking ? try await registered() : .proposed
        let dashboard = configuration.announcements.dashboard(of: known, entities: entities)
        let isRegistered = entities != .proposed
        let shown = known.filter { device in
            let board = configuration.announcements.dashboard(of: [device], entities: entities)
            return board.views.count > 1
        }
        guard !shown.isEmpty else {
            throw ToolFailure(
                "Home Assistant has no entity of these devices. Connect it to the broker of the gateway, "
                    + "and see that the gateway runs.")
        }
        notes += known.filter { !shown.contains($0) }.map {
            "\($0.info.id) is skipped: Home Assistant has no entity of it."
        }
        let ids =
            isRegistered
            ? "as Home Assistant has them now" : "as the gateway proposes them to Home Assistant 2025.10 or later"
        let head = """
            # Made by vitals2mqtt \(GatewayVersion.current). Paste it into the raw configuration editor of an empty dashboard; in
            # one with views, add the views below views: to them. The ids of entities are \(ids).

            """
        do {
            let text = try head + YAMLText.of(["views": .array(dashboard.views)])
            return Result(text: text, notes: notes.map { "\($0)\n" }.joined())
        } catch {
            throw ToolFailure("The dashboard cannot be written: \(error)")
        }
    }

    private func chosen(_ names: [String]) throws(ToolFailure) -> [DeviceInfo] {
        let all = configuration.devices.map(\.info)
        guard !all.isEmpty else { throw ToolFailure("No device is configured.") }
        for name in names where !all.contains(where: { $0.id.text == name }) {
            let ids = all.map(\.id.text).joined(separator: ", ")
            throw ToolFailure("There is no device \(name) in the configuration. It has \(ids).")
        }
        return names.isEmpty ? all : all.filter { names.contains($0.id.text) }
    }

    /// The devices with what the store knows of them, and the ids of those that it does not know.
    private func profiles(of devices: [DeviceInfo]) throws(ToolFailure) -> ([DiscoveredDevice], [DeviceID]) {
        let records: [DeviceID: DeviceRecord]
        do throws(StoreError) {
            records = try KnownDevices.profiles(of: devices.map(\.id), in: configuration.store.path)
        } catch {
            throw ToolFailure(
                "\(error) What a device can do is known only there: run the gateway until the devices were "
                    + "connected once.")
        }
        var (known, unknown): ([DiscoveredDevice], [DeviceID]) = ([], [])
        for var info in devices {
            guard let record = records[info.id], let capabilities = record.capabilities else {
                unknown.append(info.id)
                continue
            }
            info.identity = record.identity
            info.capabilities = capabilities
            info.features = record.features
            known.append(DiscoveredDevice(info, settings: record.twin?.desired))
        }
        return (known, unknown)
    }

    /// The ids in Home Assistant's registry if its address is configured, and else those that are proposed. If it does not answer,
    /// that is an error: with guessed ids, a card of an entity that is not there would show one.
    private func registered() async throws(ToolFailure) -> DashboardEntities {
        let home = configuration.homeAssistant
        guard let address = home.address, let token = home.token else { return .proposed }
        let prefix = configuration.announcements.uniqueIDPrefix
        do {
            let client = WebSocketClient(address, authorityFile: home.authorityFile)
            let entities = try await client.withConnection { stream in
                let conversation = Conversation(stream, clock: .system)
                _ = try await conversation.authenticate(token: token.value)
                return try await conversation.entities(beginningWith: prefix)
            }
            return .registered(entities.filter { !$0.value.isDisabled }.mapValues(\.id))
        } catch {
            throw ToolFailure(
                "\(error)\nWith --proposed-ids Home Assistant is not asked for the ids of the entities.")
        }
    }
}
