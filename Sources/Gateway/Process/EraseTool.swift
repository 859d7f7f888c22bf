import Contract
import GatewayKit
import HomeAssistant
import HomeAssistantStatistics
import Logging
import MQTT
import Mosquitto
import Store
import Vitals

/// Erases a person's or a device's data while the gateway does not run: from the store with the copies beside it, from the
/// retained topics, and on request from Home Assistant's statistics.
package struct EraseTool: Sendable {
    /// Whose data.
    package enum Subject: Sendable, Hashable {
        /// Of a person, by the name in `person` and `people` of the configuration, or in `by` of an acknowledgement.
        case person(String)
        /// Of all who use a device, by its id. It may be one that is not configured any more.
        case device(String)

        /// What a person types to confirm.
        package var name: String {
            switch self {
            case .person(let name), .device(let name): name
            }
        }
    }

    /// What will be erased.
    package struct Plan: Sendable {
        package var subject: Subject
        var targets: [StoreErasure.Target]
        /// What the person has acknowledged, on any device.
        var acknowledged: [(device: DeviceID, rule: AlertRule)]
        /// What it is and what it cannot reach, for the person who confirms it.
        package var text: String
    }

    private let configuration: GatewayConfiguration

    /// The gateway of a configuration file.
    /// - Throws: `ConfigurationError` if the file has errors.
    package init(configuration file: String, with plugins: PluginCatalogue) throws(ConfigurationError) {
        configuration = try ConfigurationLoader(plugins: plugins).load(file)
    }

    /// Finds what is to be erased, and changes nothing.
    /// - Parameter includesStatistics: whether Home Assistant's statistics are to be deleted.
    /// - Throws: `ToolFailure` if there is no such person or device, the store cannot be read, or the statistics need a token that is
    ///   not configured.
    package func plan(_ subject: Subject, includingStatistics includesStatistics: Bool) throws(ToolFailure) -> Plan {
        if includesStatistics, configuration.homeAssistant.address == nil || configuration.homeAssistant.token == nil {
            throw ToolFailure(
                "Home Assistant's statistics are deleted with home_assistant.url and its token: add them.")
        }
        let acknowledged = try acknowledged(by: subject)
        let targets = try targets(of: subject, isKnown: !acknowledged.isEmpty)
        let copies = StoreErasure.copies(of: configuration.store.path)
        var lines = ["This erases for ever from \(configuration.store.path), its outbox and the broker:"]
        lines += targets.map { "  \(Self.text(of: $0))" }
        lines += acknowledged.map { "  \($0.device): that \(subject.name) has acknowledged \($0.rule.name)" }
        if !copies.isEmpty {
            lines.append("These copies beside the store go as a whole, with what they have of others:")
            lines += copies.map { "  \($0)" }
        }
        if includesStatistics {
            lines.append("Home Assistant's statistics of these devices are deleted, of all their users.")
        }
        lines.append("It cannot reach:")
        lines.append("  backups of the store elsewhere, recordings, logs of services, and freed blocks of the disk")
        lines.append("  what consumers have received; a gap with the reason erased tells those that listen")
        lines.append(
            includesStatistics
                ? "  Home Assistant's history of states: call its action recorder.purge_entities"
                : "  Home Assistant: --home-assistant deletes statistics, its action recorder.purge_entities states")
        lines.append(
            "  the device, the phone or the folder: what was measured before now is refused when they send it again,")
        lines.append("  until the configuration no longer names the device, or has from: for it")
        return Plan(
            subject: subject, targets: targets, acknowledged: acknowledged, text: lines.map { $0 + "\n" }.joined())
    }

    private func acknowledged(
        by subject: Subject
    ) throws(ToolFailure) -> [(device: DeviceID, rule: AlertRule)] {
        guard case .person(let name) = subject else { return [] }
        do throws(StoreError) {
            return try StoreErasure.acknowledged(by: name, in: configuration.store.path)
        } catch {
            throw ToolFailure("\(error)")
        }
    }

    /// - Parameter isKnown: whether the store names the person otherwise, so that no device has to.
    private func targets(of subject: Subject, isKnown: Bool) throws(ToolFailure) -> [StoreErasure.Target] {
        let devices = configuration.devices.map(\.info)
        switch subject {
        case .device(let text):
            guard let id = DeviceID(text) else { throw ToolFailure("\(text) is no id of a device.") }
            let isConfigured = devices.contains { $0.id == id }
            let known: [DeviceID]
            do throws(StoreError) { known = try StoreErasure.devices(in: configuration.store.path) } catch {
                throw ToolFailure("\(error)")
            }
            guard isConfigured || known.contains(id) else {
                let ids = Set(known + devices.map(\.id)).sorted().map(\.text).joined(separator: ", ")
                throw ToolFailure(
                    "There is no device \(text), neither in the configuration nor in the store. There are: \(ids).")
            }
            return [StoreErasure.Target(id, [.device], isConfigured: isConfigured)]
        case .person(let name):
            let targets = devices.compactMap { info -> StoreErasure.Target? in
                let parts = info.wearers.parts(of: name)
                return parts.isEmpty ? nil : StoreErasure.Target(info.id, parts, isConfigured: true)
            }
            guard targets.isEmpty, !isKnown else { return targets }
            let names = Set(devices.compactMap(\.person) + devices.flatMap { Array($0.people.values) }).sorted()
            throw ToolFailure(
                "No device of the configuration has the person \(name). "
                    + (names.isEmpty ? "It names nobody." : "It names \(names.joined(separator: ", ")).")
                    + " A device that it names no more is erased with --device.")
        }
    }

    private static func text(of target: StoreErasure.Target) -> String {
        guard !target.parts.contains(.device) else { return "\(target.device): everything" }
        let slots = target.parts.map { part in
            if case .user(let user?) = part { "user slot \(user)" } else { "what has no user slot" }
        }
        return
            "\(target.device): \(slots.sorted().joined(separator: ", ")); the days of all its users are counted again"
    }

    /// Erases. After a failure all of it can be done again.
    /// - Returns: what was done, for a person.
    /// - Throws: `ToolFailure` that says what is left.
    package func erase(_ plan: Plan, includingStatistics includesStatistics: Bool) async throws(ToolFailure) -> String {
        let store: StoreErasure
        let count: Int
        do throws(StoreError) {
            store = try StoreErasure(of: configuration.store.path)
            var person: String?
            if case .person(let name) = plan.subject { person = name }
            count = try store.erase(plan.targets, acknowledgedBy: person, at: GatewayClock.system.now)
        } catch {
            throw ToolFailure("\(error)")
        }
        let devices = plan.targets.map(\.device)
        var left = await emptyTopics(
            devices.flatMap { Topic.retained(of: $0) } + plan.acknowledged.map { Topic.level($0.device, $0.rule) })
        if includesStatistics, let failure = await clearStatistics(of: devices) { left.append(failure) }
        guard left.isEmpty else {
            throw ToolFailure(
                (["The store has nothing of it any more: \(count) samples are erased. This is left:"]
                    + left.map { "  \($0)" }
                    + ["Correct it, and erase again before the gateway starts."]).joined(separator: "\n"))
        }
        do throws(StoreError) { try store.complete(plan.targets) } catch { throw ToolFailure("\(error)") }
        return "Erased: \(count) samples, and all that was computed from them. Start the gateway again.\n"
    }

    // MARK: - Broker

    /// Empties retained topics at each broker of the list. Returns what is left.
    private func emptyTopics(_ topics: [Topic]) async -> [String] {
        let messages = topics.map { OutgoingMessage.removal(of: configuration.topics.topic($0)) }
        var left: [String] = []
        for server in configuration.mqtt.servers {
            var options = configuration.mqtt.brokerOptions
            options.servers = [server]
            options.clientID += "-erase"
            do {
                let broker = try MosquittoBroker(
                    options, logger: Logger(label: "erase") { _ in SwiftLogNoOpLogHandler() })
                try await broker.withConnection { try await Self.publish(messages, over: $0) }
            } catch {
                let reason = (error as? BrokerError)?.advice ?? "\(error)"
                left.append("The retained topics at \(server): \(reason)")
            }
        }
        return left
    }

    /// Publishes messages, and returns when the broker has all of them.
    static func publish(_ messages: [OutgoingMessage], over connection: any BrokerConnection) async throws(BrokerError)
    {
        var (sent, open) = (0, 0)
        while sent < messages.count || open > 0 {
            while sent < messages.count, open < connection.window {
                try connection.publish(messages[sent], as: MessageToken(rawValue: Int64(sent)))
                sent += 1
                open += 1
            }
            let events = try await connection.nextEvents()
            open -= events.acknowledged.count + events.refused.count
            if let refused = events.refused.first {
                throw BrokerError(.notAuthorized, "The broker refuses to empty a topic: \(refused.reason).")
            }
        }
    }

    // MARK: - Home Assistant

    /// Deletes the statistics of all entities of these devices. Returns why that failed.
    private func clearStatistics(of devices: [DeviceID]) async -> String? {
        let home = configuration.homeAssistant
        guard let address = home.address, let token = home.token else { return nil }
        let announcements = configuration.announcements
        let keys = Discovery.everyKey
        let ours = Set(devices.flatMap { device in keys.map { announcements.uniqueID(of: $0, device) } })
        do {
            let client = WebSocketClient(address, authorityFile: home.authorityFile)
            try await client.withConnection { stream in
                let conversation = Conversation(stream, clock: .system)
                _ = try await conversation.authenticate(token: token.value)
                let entities = try await conversation.entities(beginningWith: announcements.uniqueIDPrefix)
                try await conversation.clear(entities.filter { ours.contains($0.key) }.values.map(\.id).sorted())
            }
            return nil
        } catch {
            return "Home Assistant's statistics: \(error)"
        }
    }
}
