/// The settings of a connection to a broker.
package struct BrokerOptions: Sendable, Hashable {
    /// Default number of messages in flight: about a hundred hide the round trip to a broker in the same house, while
    /// libmosquitto 2.0 searches a list of them for each acknowledgement.
    package static let defaultWindow = 128
    /// Default limit of waiting messages: a burst of commands for every device of a large gateway.
    package static let defaultMaximumInbound = 1_024
    /// Default number of bytes kept of an inbound payload: the contract answers `too_large` above 256 KiB.
    package static let defaultMaximumInboundPayload = 256 * 1024

    /// The largest packet that the broker may send, 1 MiB, four times the longest command: libmosquitto holds a whole packet in
    /// memory. The broker drops a larger one. MQTT 3.1.1 has no such limit.
    package static let maximumInboundPacket = 1 << 20

    /// The brokers of a cluster; each failed attempt moves on to the next one.
    package var servers: [BrokerServer]
    /// The name of this client, unique at the broker.
    package var clientID: String
    /// The version to speak; `nil` for 5, and 3.1.1 where the broker refuses that or the library cannot read it safely.
    package var version: MQTTVersion?
    /// The user name, if the broker wants one.
    package var username: String?
    /// The password that goes with `username`.
    package var password: String?
    /// Certificates, for the servers with TLS.
    package var tls: TLSOptions
    /// The keep-alive, after which a silent broker counts as lost; 5 s to 65,535 s, in whole seconds.
    package var keepAlive: Duration
    /// The message that the broker publishes when this client leaves without a graceful disconnect.
    package var will: OutgoingMessage?
    /// Time limit for opening a connection, and for the answer to a subscription.
    package var timeout: Duration
    /// The maximum number of unacknowledged messages, 1 to 65,535.
    package var window: Int
    /// The maximum number of waiting received messages; further ones are counted and dropped.
    package var maximumInbound: Int
    /// The number of bytes kept of a received payload.
    package var maximumInboundPayload: Int

    /// Options; by default protocol 5, a keep-alive of 15 s (detects a dead broker within half a minute) and a timeout
    /// of 10 s.
    package init(
        servers: [BrokerServer], clientID: String, version: MQTTVersion? = .v5, username: String? = nil,
        password: String? = nil, tls: TLSOptions = TLSOptions(), keepAlive: Duration = .seconds(15),
        will: OutgoingMessage? = nil, timeout: Duration = .seconds(10), window: Int = defaultWindow,
        maximumInbound: Int = defaultMaximumInbound, maximumInboundPayload: Int = defaultMaximumInboundPayload
    ) {
        self.servers = servers
        self.clientID = clientID
        self.version = version
        self.username = username
        self.password = password
        self.tls = tls
        self.keepAlive = keepAlive
        self.will = will
        self.timeout = timeout
        self.window = window
        self.maximumInbound = maximumInbound
        self.maximumInboundPayload = maximumInboundPayload
    }
}

extension BrokerOptions {
    /// The shortest keep-alive that libmosquitto accepts.
    package static let minimumKeepAlive = Duration.seconds(5)
    /// The longest keep-alive that the protocol can express.
    package static let maximumKeepAlive = Duration.seconds(65_535)

    /// Checks the options as far as possible without a connection.
    /// - Throws: `BrokerError` `.invalidOptions` that names the option to change.
    package func validate() throws(BrokerError) {
        func invalid(_ message: String) -> BrokerError { BrokerError(.invalidOptions, message) }
        guard !servers.isEmpty else { throw invalid("No broker is configured.") }
        for server in servers where server.host.isEmpty || !(1...65_535).contains(server.port) {
            throw invalid("\(server) is not a host and a port from 1 to 65535.")
        }
        guard !clientID.isEmpty else { throw invalid("The client id is empty.") }
        guard (Self.minimumKeepAlive...Self.maximumKeepAlive).contains(keepAlive) else {
            throw invalid("The keep-alive is not between 5 s and 65535 s.")
        }
        guard (1...65_535).contains(window) else { throw invalid("The window is not between 1 and 65535 messages.") }
        guard timeout > .zero else { throw invalid("The timeout is not positive.") }
        guard maximumInbound > 0, maximumInboundPayload > 0 else {
            throw invalid("The limits of received messages are not positive.")
        }
        guard password == nil || username != nil else { throw invalid("A password needs a user name.") }
        if let will, will.topic.isEmpty || will.topic.contains(where: { "+#\0".contains($0) }) {
            throw invalid("The will's topic \"\(will.topic)\" is empty or contains a wildcard.")
        }
    }
}

/// Certificates for encrypted connections: paths of PEM files.
package struct TLSOptions: Sendable, Hashable {
    /// The trusted authorities; those of the operating system when `nil`.
    package var caFile: String?
    /// This client's certificate, if the broker wants one.
    package var certificateFile: String?
    /// The private key of `certificateFile`, without a passphrase.
    package var keyFile: String?
    /// Whether the broker's certificate must name the connected host. Without the check, anyone with any certificate
    /// of the same authority can eavesdrop.
    package var checksHostname: Bool

    /// Certificates; the operating system's authorities and no client certificate by default.
    package init(
        caFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil, checksHostname: Bool = true
    ) {
        self.caFile = caFile
        self.certificateFile = certificateFile
        self.keyFile = keyFile
        self.checksHostname = checksHostname
    }
}

/// A version of the MQTT protocol.
package enum MQTTVersion: String, Sendable, Hashable, CaseIterable {
    /// MQTT 5.0: with properties, reason codes and retain-as-published.
    case v5 = "5"
    /// MQTT 3.1.1: without message properties, and without refusals of messages.
    case v311 = "3.1.1"

    /// What an operator loses with 3.1.1.
    package static let lossOf311 =
        "Packets have no limit (set message_size_limit at the broker), messages do not expire and name no response topic, a command "
        + "with retain runs, and the broker drops what it does not allow without a word."
}
