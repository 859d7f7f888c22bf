/// A client's request for messages.
package struct Subscription: Sendable, Hashable {
    /// A topic, with `+` for one level and a `#` at the end for all further ones.
    package var filter: String
    /// The maximum quality of service for delivery.
    package var qos: QualityOfService
    /// MQTT 5 only: a message keeps its original retain flag. This distinguishes a command published with retain from
    /// a live one, even when it arrives live.
    package var retainsAsPublished: Bool
    /// MQTT 5 only: the client does not receive its own messages.
    package var isWithoutOwn: Bool

    /// A subscription; quality of service 1 and no options by default.
    package init(
        _ filter: String, qos: QualityOfService = .atLeastOnce, retainsAsPublished: Bool = false,
        isWithoutOwn: Bool = false
    ) {
        self.filter = filter
        self.qos = qos
        self.retainsAsPublished = retainsAsPublished
        self.isWithoutOwn = isWithoutOwn
    }
}
