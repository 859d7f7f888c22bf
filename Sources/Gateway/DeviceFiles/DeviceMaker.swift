import Concurrency
import Delivery
import Engines
import GatewayKit
import Logging
import MQTT
import ServiceLifecycle
import Synchronization
import Vitals

/// Makes the devices of templates: writes a file for each part of a topic that sends something, which `DeviceFolderWatch` then finds.
/// `DocumentTopics` keeps the messages until the device takes them.
final class DeviceMaker: Service {
    /// After how long a file is tried again that could not be written: another program writes for a moment, and for the rest, such as an
    /// error in the configuration, a person is needed. Each try reads all of it.
    static let retryDelay: Duration = .seconds(30)

    private struct Template: Sendable {
        let entry: DeviceConfiguration
        let options: MessageTemplate
        /// No device has a space in its id.
        var owner: String { "template \(entry.info.id)" }
        var subscriptions: Set<String> { Set(options.captures.map(\.filter.text)) }
    }

    private struct State {
        var files: DeviceFiles?
        var templates: [Template] = []
        /// By the template's id.
        var captured: [DeviceID: CapturedDevices] = [:]
        /// The parts that could not be written: others come first.
        var failed: Set<String> = []
        var notice = RepeatedNotice()
    }

    private let state = Mutex(State())
    private let topics: DocumentTopics
    private let calendar: LocalCalendar
    private let clock: GatewayClock
    private let logger: Logger
    private let limit: Int
    private let queue = BlockingQueue(label: "made devices")

    /// - Parameter limit: the most devices of a template.
    init(_ settings: CoreSettings, limit: Int = CapturedDevices.maximum) {
        (topics, calendar, clock) = (settings.documents, settings.calendar, settings.clock)
        (logger, self.limit) = (settings.logger, limit)
    }

    /// Follows a configuration that is applied.
    func follow(_ configuration: GatewayConfiguration) {
        let templates = configuration.templates.compactMap { entry in
            entry.template.map { Template(entry: entry, options: $0) }
        }
        let ids = (configuration.devices + configuration.templates).map(\.info.id)
        let parts = templates.map { configuration.parts(of: $0.options) }
        let before = state.withLock { state -> [Template] in
            defer { state.templates = templates }
            state.files = configuration.deviceFiles
            let earlier = state.captured
            state.captured = [:]
            for (template, parts) in zip(templates, parts) {
                let id = template.entry.info.id
                state.captured[id] = CapturedDevices(
                    template.options.captures, except: template.options.except, parts: parts, beside: ids,
                    after: earlier[id], limit: limit)
            }
            return state.templates
        }
        for template in templates {
            for subscription in template.subscriptions { topics.hold(subscription, for: template.owner) }
        }
        for template in before {
            let kept = templates.first { $0.owner == template.owner }?.subscriptions ?? []
            for gone in template.subscriptions.subtracting(kept) { topics.remove(gone, for: template.owner) }
        }
        topics.hasHeld.wake()
    }

    /// Makes devices until the gateway ends.
    func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.topics.hasHeld.wait()
                while !Task.isCancelled, (try? await self.queue.run { self.makeDevices() }) == false {
                    try? await Task.sleep(for: Self.retryDelay, clock: .continuous)
                }
            }
        }
    }

    /// Makes the devices of the messages that are kept, and forgets those that lead to none. Returns whether all could be made.
    func makeDevices() -> Bool {
        let (files, templates, failed) = state.withLock { ($0.files, $0.templates, $0.failed) }
        var unwanted: Set<Int> = []
        defer { topics.discard(unwanted) }
        let all = topics.held
        let late = all.filter { failed.contains($0.message.topic) }
        for held in all.filter({ !failed.contains($0.message.topic) }) + late {
            let topic = held.message.topic
            guard let files, let template = templates.first(where: { captured($0)?.part(of: topic) != nil }),
                let part = captured(template)?.part(of: topic)
            else {
                unwanted.insert(held.number)
                continue
            }
            if captured(template)?.isExpected(part) == true { continue }
            let mark = DocumentMessage(
                topic: topic, isStored: held.message.isRetained, size: held.message.payloadSize)
            let isWanted = template.options.isWanted(
                mark, held.message.payload, held.receivedAt, held.receivedAt + SyncPolicy.futureTolerance, calendar)
            guard isWanted, case .device(let id, _) = decide(topic, template) else {
                unwanted.insert(held.number)
                continue
            }
            guard write(NewDevice(id: id, part: part, like: template.entry), part, template, in: files) else {
                state.withLock { state in
                    state.captured[template.entry.info.id]?.undo(part)
                    state.failed.insert(topic)
                }
                return false
            }
        }
        state.withLock { ($0.failed, $0.notice) = ([], RepeatedNotice()) }
        return true
    }

    private func captured(_ template: Template) -> CapturedDevices? {
        state.withLock { $0.captured[template.entry.info.id] }
    }

    /// Decides about a message with a value, and logs why it leads to no device.
    private func decide(_ topic: String, _ template: Template) -> CapturedDevices.Decision {
        let id = template.entry.info.id
        let decision = state.withLock { $0.captured[id]?.decide(topic) } ?? .nothing
        var reason: (part: String, text: Logger.Message)
        switch decision {
        case .nothing, .device: return decision
        case .tooMany(let part):
            reason = (
                part, "A part of a topic gets no device, since there are too many; remove one, or give it an entry."
            )
        case .removed(let part):
            reason = (
                part, "A removed device still sends; it is made again after a restart, unless `except` has its part."
            )
        case .unusable(let part):
            reason = (part, "A part of a topic gets no device, since it can be no name; give it an entry.")
        }
        // A broker may have topics of any length.
        reason.part = String(reason.part.printable.prefix(ConfigurationLimits.nameLength))
        logger.notice(
            reason.text, metadata: ["template": "\(id)", "part": "\(reason.part)", "limit": "\(limit)"])
        return decision
    }

    private func write(_ device: NewDevice, _ part: String, _ template: Template, in files: DeviceFiles) -> Bool {
        let id = template.entry.info.id
        do {
            let written = try files.write(device)
            logger.notice(
                "A device is made for a part of a topic.",
                metadata: [
                    "device.id": "\(device.id)", "part": "\(part)", "template": "\(id)", "file": "\(written.path)",
                ])
            return true
        } catch {
            let now = clock.uptime
            if state.withLock({ $0.notice.isDue("\(error)", at: now) }) {
                logger.error(
                    "The device of a part of a topic cannot be written; it is tried again.",
                    metadata: ["part": "\(part)", "template": "\(id)", "error": "\(error)"])
            }
            return false
        }
    }
}

extension GatewayConfiguration {
    /// The parts that a template captures and that have devices.
    fileprivate func parts(of template: MessageTemplate) -> [String] {
        let topics = devices.flatMap { $0.messages?.topics ?? [] }.filter { $0.own != $0.subscription }
        return template.captures.flatMap { capture in
            topics.filter { $0.subscription == capture.filter }.compactMap { capture.part(of: $0.own.text) }
        }
    }
}
