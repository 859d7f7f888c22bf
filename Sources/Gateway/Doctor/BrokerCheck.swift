import Contract
import Logging
import MQTT
import Mosquitto
import Synchronization

/// A short connection to a broker, as the gateway would make it, under another name: a gateway that runs stays connected.
struct BrokerCheck: Sendable {
    private let options: BrokerOptions
    private let filters: [String]

    init(_ configuration: GatewayConfiguration, _ server: BrokerServer) {
        var options = configuration.mqtt.brokerOptions
        options.servers = [server]
        options.clientID += "-doctor"
        self.options = options
        filters = configuration.topics.commandFilters
    }

    /// The version of MQTT that the gateway and the broker would speak, or why the gateway could not use the broker.
    func version() async -> Result<MQTTVersion, BrokerError> {
        let spoken = Mutex<MQTTVersion?>(nil)
        do {
            let broker = try MosquittoBroker(options, logger: Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() })
            try await broker.withConnection { connection in
                spoken.withLock { $0 = connection.version }
                try await connection.subscribe(filters.map { Subscription($0) })
            }
        } catch {
            return .failure(error as? BrokerError ?? BrokerError(.broken, "\(error)"))
        }
        guard let version = spoken.withLock({ $0 }) else { return .failure(.cancelled) }
        return .success(version)
    }
}

extension BrokerError {
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
