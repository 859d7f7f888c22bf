import Contract
import Engines
import HomeAssistant
import MQTT
import Vitals

/// Turns facts, states and answers into messages of the broker, and messages of the broker into commands: the one place
/// where the contract meets MQTT.
struct WireEncoder: Sendable {
    let topics: ContractTopics
    let discovery: DiscoverySettings
    let parser: CommandParser
    private let contract: ContractEncoder

    init(settings: CoreSettings, discovery: DiscoverySettings) {
        topics = settings.topics
        self.discovery = discovery
        parser = CommandParser(
            topics: settings.topics, discoveryPrefix: discovery.prefix, calendar: settings.calendar)
        contract = ContractEncoder(topics: settings.topics, calendar: settings.calendar)
    }

    /// What the gateway listens to. With version 5 a command that was published with `retain` arrives marked as such.
    var subscriptions: [Subscription] {
        topics.commandFilters.map { Subscription($0, retainsAsPublished: true) }
            + discovery.filters.map { Subscription($0) }
    }

    /// The will, and what is said at a clean end.
    var offline: OutgoingMessage { contract.gatewayStatus(isOnline: false) }

    func status(isOnline: Bool) -> OutboundMessage { OutboundMessage(contract.gatewayStatus(isOnline: isOnline)) }

    /// A message that carries facts, with an encoder that the caller keeps: it remembers offsets between samples.
    static func encode(
        _ fact: Fact, info: DeviceInfo?, publishedAt: Timestamp, isReplay: Bool, with encoder: inout ContractEncoder
    ) -> OutboundMessage {
        var fact = fact
        // An alert that could not be sent for an hour is no news any more.
        if case .alert(let event, false) = fact.content, publishedAt - event.measuredAt > Self.alertExpiry {
            fact.content = .alert(event, isLate: true)
        }
        let info = info ?? DeviceInfo(id: fact.device, name: fact.device.text, driver: "")
        return OutboundMessage(encoder.fact(fact, info: info, publishedAt: publishedAt, isReplay: isReplay))
    }

    /// After so long an alert that could not be sent goes to the history events.
    static let alertExpiry: Duration = .hours(1)

    var encoder: ContractEncoder { contract }

    func encode(_ answer: StoredAnswer) -> OutboundMessage {
        OutboundMessage(.answer(topic: answer.topic, payload: answer.payload, correlation: answer.correlation))
    }

    func answer(
        _ answer: Answer, to envelope: CommandEnvelope, about info: DeviceInfo?, at now: Timestamp
    ) -> OutgoingMessage {
        var encoder = contract
        return encoder.answer(
            Self.fitted(answer, about: info, by: &encoder), to: envelope, about: info, at: now)
    }

    /// Ends a page of samples where the payload would grow beyond what small brokers take.
    static func fitted(
        _ answer: Answer, about info: DeviceInfo?, by encoder: inout ContractEncoder
    ) -> Answer {
        guard case .samples(let samples, let metric, _) = answer.data else { return answer }
        let count = encoder.samplesPerAnswer(samples, of: info)
        guard count < samples.count else { return answer }
        var answer = answer
        let next = SampleKey(samples[count - 1].sample).page
        answer.data = .samples(Array(samples.prefix(count)), metric: metric, next: next)
        return answer
    }

    /// An answer that was given before, to whoever asks again.
    func answer(_ payload: [UInt8], to envelope: CommandEnvelope) -> OutgoingMessage {
        .answer(topic: contract.answerTopic(for: envelope), payload: payload, correlation: envelope.correlation)
    }

    func parse(_ message: InboundMessage, at now: Timestamp) -> Incoming {
        parser.parse(
            topic: message.topic, payload: message.payload, payloadSize: message.payloadSize,
            isRetained: message.isRetained, responseTopic: message.responseTopic,
            correlation: message.correlationData, receivedAt: now)
    }

    /// The messages that empty everything that stands about a device.
    func removal(of device: DeviceID) -> [OutgoingMessage] {
        Topic.retained(of: device).map { .removal(of: topics.topic($0)) }
    }

    static func encode(
        _ state: DeviceState, of device: DeviceID, info: DeviceInfo?, now: Timestamp,
        with encoder: inout ContractEncoder
    ) -> OutgoingMessage {
        switch state {
        case .info(let info): encoder.info(info)
        case .availability(let isOnline): encoder.availability(isOnline, of: device)
        case .link(let state): encoder.link(state, of: device)
        case .latest(let state):
            encoder.latest(state, of: device, person: info?.person(user: state.stored.sample.user), now: now)
        case .today(let record): encoder.today(record, of: device)
        case .level(let level): encoder.level(level, of: device)
        case .config(let state): encoder.config(state, of: device)
        case .sync(let state): encoder.sync(state, of: device)
        case .measure(let state): encoder.measure(state, of: device)
        }
    }
}

extension OutboundMessage {
    init(_ message: OutgoingMessage) {
        self.init(
            topic: message.topic, payload: message.payload, isRetained: message.isRetained, expiry: message.expiry,
            contentType: message.contentType, isUTF8: message.isText, correlationData: message.correlation)
    }
}
