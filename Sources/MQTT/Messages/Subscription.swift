/// Which messages a client wants.
package struct Subscription: Sendable, Hashable {
    /// A topic, with `+` for one level and a `#` at the end for all further ones.
    package var filter: String
    /// The highest quality of service to deliver with.
    package var qos: QualityOfService
    /// MQTT 5 only: a message keeps the retain flag it was published with, so that a command that someone published
    /// with retain can be told from a live one even when it arrives live.
    package var retainsAsPublished: Bool
    /// MQTT 5 only: messages that this client published itself do not come back.
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
