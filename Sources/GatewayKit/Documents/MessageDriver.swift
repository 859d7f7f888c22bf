package import Vitals

/// A driver that takes messages of the gateway's broker itself, without a transport. They are the documents of
/// `SessionContext.documents`.
package protocol MessageDriver: DeviceDriver {
    /// The most bytes of a message. Of a longer one the driver gets no content, so that it can count it.
    static var maximumSize: Int { get }
    /// The most messages of a device that wait for its session.
    static var maximumWaiting: Int { get }
    /// What it takes. Other devices may take the same.
    var topics: [MessageTopic] { get }
    /// What devices are made of, if its options are for many and none of their own.
    var template: MessageTemplate? { get }
}

extension MessageDriver {
    package var template: MessageTemplate? { nil }
}

/// Options of a driver for many devices: one for each part that a level of its topics captures. It is no device itself.
package struct MessageTemplate: Sendable {
    /// The options that only a template has.
    package static let options = ["each_device", "except"]
    /// The option by which a device says which part is its own.
    package static let part = "device"

    /// A topic that captures.
    package struct Capture: Sendable, Hashable {
        /// What is subscribed to.
        package let filter: TopicFilter
        /// Which level names the device, from 0.
        package let level: Int

        package init(_ filter: TopicFilter, level: Int) { (self.filter, self.level) = (filter, level) }

        /// What that level of a topic is; `nil` if it has none.
        package func part(of topic: String) -> String? {
            // By bytes, as the broker has it: what follows a slash may join it to another character.
            let levels = topic.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            return levels.indices.contains(level) && !levels[level].isEmpty ? String(Substring(levels[level])) : nil
        }
    }

    package var captures: [Capture]
    /// The parts that get no device.
    package var except: Set<String>
    /// Whether a message that came at a time has something for a device, so that one is made: nothing that is later than `latest`.
    package var isWanted:
        @Sendable (
            _ message: DocumentMessage, _ content: [UInt8], _ receivedAt: Timestamp, _ latest: Timestamp, LocalCalendar
        ) -> Bool

    package init(
        _ captures: [Capture], except: Set<String>,
        isWanted: @escaping @Sendable (DocumentMessage, [UInt8], Timestamp, Timestamp, LocalCalendar) -> Bool
    ) {
        (self.captures, self.except, self.isWanted) = (captures, except, isWanted)
    }
}

/// Topics of which a device takes messages.
package struct MessageTopic: Sendable, Hashable {
    /// What the gateway subscribes to.
    package var subscription: TopicFilter
    /// What of it is for this device.
    package var own: TopicFilter

    package init(subscription: TopicFilter, own: TopicFilter) {
        self.subscription = subscription
        self.own = own
    }
}

/// What a message has beside its content.
package struct DocumentMessage: Sendable, Hashable {
    /// The topic of publication.
    package var topic: String
    /// Whether the broker already had it when the gateway subscribed.
    package var isStored: Bool
    /// The bytes of the content; more than the driver takes if there is none.
    package var size: Int

    package init(topic: String, isStored: Bool, size: Int) {
        self.topic = topic
        self.isStored = isStored
        self.size = size
    }
}
