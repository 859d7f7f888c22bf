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
