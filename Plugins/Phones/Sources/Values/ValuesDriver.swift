package import GatewayKit
import Vitals

/// Reads values that others publish at the gateway's broker. A session begins with a message, and ends when no further one comes.
package struct ValuesDriver: MessageDriver {
    package static let name = "mqtt-values"
    /// None: the gateway's own connection brings the messages.
    package static let link = LinkKind.none
    /// 64 KiB, a hundred times as many as such publishers send.
    package static let maximumSize = 64 * 1024
    /// What the broker may send at once for a subscription with wildcards, in less than 32 MiB.
    package static let maximumWaiting = 500
    /// For how long the same message can be the same measurement, and by default: a scale repeats what it has for half a minute.
    static let sameFor = Duration.zero...Duration.days(1)
    static let defaultSameFor = Duration.seconds(60)
    /// The most parts of a topic without a device: as many as have one.
    static let maximumExcept = 100

    private let values: [ValueTopic]
    /// The parts without a device, where the others have one each; `nil` for one device.
    private let except: Set<String>?
    /// What was taken last, over all sessions.
    private let repeated: RepeatedMessages

    /// Reads `topics`, `device` or `each_device` with `except`, and `same_for`.
    package init(options: inout ConfigurationReader) {
        let device = options.optionalString(
            "device", about: "What stands for {device} in the topics, such as an address or a name.")
        let isTemplate = options.flag(
            "each_device", default: false,
            about: "Makes a device of its own for each part that stands for {device}, as a file of `devices_from`.")
        let except = options.oneOrMoreStrings(
            "except", limit: Self.maximumExcept, about: "With each_device: the parts that get no device.")
        if isTemplate, device != nil {
            options.report("Either device or each_device is needed here.", at: "device")
        }
        if except != nil, !isTemplate {
            options.report("Only each_device has exceptions; remove except.", at: "except")
        }
        let sameFor = options.duration(
            "same_for", in: Self.sameFor, default: Self.defaultSameFor,
            about: "How long a message with the same values and no time is the same measurement.")
        if let device, device.contains(where: { "+#/".contains($0) }) {
            options.report("One level of a topic is needed here, without +, # and /.", at: "device")
        }
        let topics = options.sections(
            "topics", limit: ValueTopic.maximumTopics, about: "Where others publish, and what is read of it."
        ) { ValueTopic(&$0, device: device, isTemplate: isTemplate) }.compactMap(\.self)
        if topics.isEmpty, options.issues.isEmpty {
            options.report("topics is missing; add topics: [{topic: …, values: [{metric: …}]}].")
        }
        if device != nil, !topics.isEmpty, !topics.contains(where: { $0.topic.own != $0.topic.subscription }) {
            options.report("No topic has \(ValueTopic.placeholder); remove device.", at: "device")
        }
        self.init(topics, sameFor: sameFor, except: isTemplate ? Set(except ?? []) : nil)
    }

    init(_ values: [ValueTopic], sameFor: Duration = defaultSameFor, except: Set<String>? = nil) {
        self.values = values
        self.except = except
        repeated = RepeatedMessages(sameFor: sameFor)
    }

    /// What is subscribed to, each once.
    package var topics: [MessageTopic] {
        values.map(\.topic).reduce(into: []) { found, next in if !found.contains(next) { found.append(next) } }
    }

    /// A device is made of what has a value: a lamp beside the thermometers gets none.
    package var template: MessageTemplate? {
        guard let except else { return nil }
        return MessageTemplate(values.compactMap(\.capture), except: except) {
            [values] message, bytes, now, latest, calendar in
            guard message.size <= Self.maximumSize else { return false }
            return values.contains { topic in
                guard topic.topic.own.matches(message.topic) else { return false }
                let read = ValueMessage(
                    bytes, of: topic, receivedAt: now, isStored: message.isStored, calendar: calendar)
                return !read.untimed.isEmpty || read.timed.contains { $0.sample.end <= latest }
            }
        }
    }

    package func withSession(
        over link: Link, context: SessionContext, _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        try await context.documents.withSession(clock: context.clock) { documents in
            try await withSession(reading: documents, context: context, body)
        }
    }

    /// Runs a session with these messages.
    func withSession(
        reading documents: any DocumentLink, context: SessionContext,
        _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        try await ValuesSession(values, repeated, context).run(over: documents, body)
    }
}
