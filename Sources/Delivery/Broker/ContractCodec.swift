import Contract
package import MQTT
package import Vitals

/// Converts facts and states to MQTT messages.
package struct ContractCodec: Sendable {
    let topics: ContractTopics
    let discovery: DiscoverySettings
    private let contract: ContractEncoder

    package init(settings: DeliverySettings, discovery: DiscoverySettings) {
        topics = settings.topics
        self.discovery = discovery
        contract = ContractEncoder(topics: settings.topics, calendar: settings.calendar)
    }

    /// The gateway's subscriptions. With version 5 a command published with `retain` arrives with the retain flag.
    var subscriptions: [Subscription] {
        topics.commandFilters.map { Subscription($0, retainsAsPublished: true) }
            + discovery.filters.map { Subscription($0) }
    }

    /// The will, and the last message of a clean stop.
    package var offline: OutgoingMessage { contract.gatewayStatus(isOnline: false) }

    /// What `gateway/status` says.
    package func status(isOnline: Bool) -> OutgoingMessage { contract.gatewayStatus(isOnline: isOnline) }

    /// Encodes a fact with the caller's encoder, which remembers offsets between samples.
    static func encode(
        _ fact: Fact, info: DeviceInfo?, publishedAt: Timestamp, isReplay: Bool, with encoder: inout ContractEncoder
    ) -> OutgoingMessage {
        var fact = fact
        // An alert that is an hour late is no longer news.
        if case .alert(let event, false) = fact.content, publishedAt - event.measuredAt > Self.alertExpiry {
            fact.content = .alert(event, isLate: true)
        }
        let info = info ?? DeviceInfo(id: fact.device, name: fact.device.text, driver: "")
        return encoder.fact(fact, info: info, publishedAt: publishedAt, isReplay: isReplay)
    }

    /// Age at which an unsent alert goes to the history events.
    package static let alertExpiry: Duration = .hours(1)

    var encoder: ContractEncoder { contract }

    /// Cuts a measurement into messages with payloads of at most `maximumPayload` bytes.
    static func parts(
        of fact: Fact, _ measurement: Fact.Measurement, info: DeviceInfo?, publishedAt: Timestamp, isReplay: Bool,
        maximumPayload: Int, without refused: Set<SampleID>, with encoder: inout ContractEncoder
    ) -> MeasurementParts {
        encoder.parts(
            of: measurement, device: fact.device, sequence: fact.sequence,
            info: info ?? DeviceInfo(id: fact.device, name: fact.device.text, driver: ""), publishedAt: publishedAt,
            isReplay: isReplay, maximumPayload: maximumPayload,
            isRefused: { !refused.isEmpty && refused.contains($0.id) })
    }

    /// The answer in place of one that is longer than the broker takes.
    static func shortened(_ message: OutgoingMessage) -> OutgoingMessage {
        var message = message
        if let payload = OutgoingMessage.tooLarge(message.payload) { message.payload = payload }
        return message
    }

    /// The messages that clear all retained topics of a device.
    package func removal(of device: DeviceID) -> [OutgoingMessage] {
        Topic.retained(of: device).map { .removal(of: topics.topic($0)) }
    }
}
