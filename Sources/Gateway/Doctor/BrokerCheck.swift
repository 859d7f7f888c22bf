import Contract
import GatewayKit
import HomeAssistant
import JSON
import Logging
import MQTT
import Mosquitto
import Synchronization
import Vitals

/// A short connection to a broker, as the gateway would make it, under another name: a gateway that runs stays connected.
///
/// It publishes a message below each of the gateway's prefixes, which nobody keeps: with MQTT 3.1.1 only their echo says that the broker
/// takes them.
struct BrokerCheck: Sendable {
    /// What a broker does that lets the gateway in.
    struct Reply: Sendable, Hashable {
        /// The version of MQTT that both would speak.
        var version: MQTTVersion
        /// The topics on which it does not take the gateway's messages, or does not give them back to its user.
        var refused: [String] = []
        /// The store of the gateway that is online at this one's topics; `nil` if none is, or it cannot be read.
        var store: String?
    }

    /// The time for the answers to all messages: a busy broker answers within seconds.
    static let answerTime: Duration = .seconds(5)

    private let options: BrokerOptions
    private let topics: ContractTopics
    private let trials: [OutgoingMessage]

    init(_ configuration: GatewayConfiguration, _ server: BrokerServer, at now: Timestamp) {
        var options = configuration.mqtt.brokerOptions
        options.servers = [server]
        options.clientID += "-doctor"
        self.options = options
        topics = configuration.topics
        var encoder = ContractEncoder(topics: topics, calendar: configuration.calendar)
        let answer = Answer(.done, message: "vitals2mqtt doctor looks whether the broker takes this.")
        let envelope = CommandEnvelope(device: nil, command: "doctor")
        let response = encoder.answer(answer, to: envelope, about: nil, at: now)
        let announcement = OutgoingMessage(topic: configuration.announcements.trialTopic, payload: [])
        trials = [response] + (configuration.homeAssistant.discovery == .off ? [] : [announcement])
    }

    /// What the broker does, or why the gateway could not use it.
    func reply(_ clock: GatewayClock) async -> Result<Reply, BrokerError> {
        let found = Mutex<Reply?>(nil)
        do {
            let broker = try MosquittoBroker(options, logger: Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() })
            try await broker.withConnection { connection in
                try await connection.subscribe(topics.commandFilters.map { Subscription($0) })
                let reply = try await attempt(on: connection, clock)
                found.withLock { $0 = reply }
            }
        } catch {
            return .failure(error as? BrokerError ?? BrokerError(.broken, "\(error)"))
        }
        guard let reply = found.withLock({ $0 }) else { return .failure(.cancelled) }
        return .success(reply)
    }

    private func attempt(on connection: any BrokerConnection, _ clock: GatewayClock) async throws -> Reply {
        let (status, info) = (topics.topic(.gatewayStatus), topics.topic(.gatewayInfo))
        for topic in [status, info] + trials.map(\.topic) {
            do throws(BrokerError) { try await connection.subscribe([Subscription(topic)]) } catch {
                // Then no echo comes.
                guard error.code == .subscriptionRefused else { throw error }
            }
        }
        for (number, trial) in trials.enumerated() {
            try connection.publish(trial, as: MessageToken(rawValue: Int64(number)))
        }
        let heard = Heard(trials.map(\.topic), needsEcho: connection.version == .v311)
        await clock.withTimeout(Self.answerTime) {
            while !heard.isComplete {
                guard let events = try? await connection.nextEvents() else { return }
                heard.receive(events)
            }
        }
        let isOnline = heard.kept(on: status) == Array(ContractEncoder.online.utf8)
        let document = heard.kept(on: info).flatMap { try? JSONValue(parsing: $0) }
        return Reply(
            version: connection.version, refused: heard.missing,
            store: isOnline ? document?["store"]?.asString : nil)
    }
}

/// What a broker says to the messages of a check.
private final class Heard: Sendable {
    private struct State {
        /// The topics whose messages it has not answered.
        var open: [Int64: String]
        var refused: [String] = []
        var kept: [String: [UInt8]] = [:]
    }
    private let state: Mutex<State>
    private let needsEcho: Bool

    /// - Parameters:
    ///   - topics: those of the messages, whose tokens are their positions.
    ///   - needsEcho: whether an acknowledgement says nothing.
    init(_ topics: [String], needsEcho: Bool) {
        let open = topics.enumerated().map { number, topic in (Int64(number), topic) }
        state = Mutex(State(open: Dictionary(uniqueKeysWithValues: open)))
        self.needsEcho = needsEcho
    }

    var isComplete: Bool { state.withLock { $0.open.isEmpty } }

    /// The topics of messages that the broker refused, or did not answer in time.
    var missing: [String] { state.withLock { ($0.refused + $0.open.values).sorted() } }

    /// What the broker kept of a topic.
    func kept(on topic: String) -> [UInt8]? { state.withLock { $0.kept[topic] } }

    func receive(_ events: BrokerEvents) {
        state.withLock { state in
            for message in events.refused {
                if let topic = state.open.removeValue(forKey: message.token.rawValue) { state.refused.append(topic) }
            }
            if !needsEcho { for token in events.acknowledged { state.open[token.rawValue] = nil } }
            for message in events.received {
                state.kept[message.topic] = message.payload
                if needsEcho, !message.isRetained { state.open = state.open.filter { $0.value != message.topic } }
            }
        }
    }
}

extension BrokerError {
    /// What happened and what to do about it, which some messages say already.
    var advice: String { message.hasSuffix(remedy) ? message : "\(message) \(remedy)" }

    /// What to do about it.
    var remedy: String {
        switch code {
        case .invalidOptions: "Correct mqtt in the configuration."
        case .unreachable, .timedOut: "Start the broker, or correct mqtt.url."
        case .tls: "Correct mqtt.tls or mqtt.url: the broker's certificate must be trusted, and name its host."
        case .badCredentials: "Correct mqtt.username and mqtt.password."
        case .notAuthorized: "Correct mqtt.username and mqtt.password, or let the user connect, in the broker."
        case .unsupportedVersion: "Set mqtt.protocol to auto."
        case .subscriptionRefused: "Let the user read these topics, in the broker's access list."
        case .refused, .broken, .windowFull, .invalidMessage, .cancelled: "The log of the broker says more."
        }
    }
}
