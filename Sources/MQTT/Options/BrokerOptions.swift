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
    /// The protocol to speak.
    package var version: MQTTVersion
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
        servers: [BrokerServer], clientID: String, version: MQTTVersion = .v5, username: String? = nil,
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
