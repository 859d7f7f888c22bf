/// How to connect to a broker.
package struct BrokerOptions: Sendable, Hashable {
    /// Messages in flight by default: the round trip to a broker in the same house is hidden from about a hundred on,
    /// while libmosquitto 2.0 searches a list of them for each acknowledgement.
    package static let defaultWindow = 128
    /// Messages that may wait to be taken by default: a burst of commands of every device of a large gateway.
    package static let defaultMaximumInbound = 1_024
    /// Bytes of an inbound payload that are kept by default: the contract answers `too_large` above 256 KiB.
    package static let defaultMaximumInboundPayload = 256 * 1024

    /// The brokers of a cluster; the next one is tried after each attempt that failed.
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
    /// After what time of silence a broker that does not answer is given up; 5 s to 65,535 s, in whole seconds.
    package var keepAlive: Duration
    /// What the broker publishes when this client is gone without a good-bye.
    package var will: OutboundMessage?
    /// How long opening a connection, and the answer to a subscription, may take.
    package var timeout: Duration
    /// How many messages may be published and not acknowledged, 1 to 65,535.
    package var window: Int
    /// How many received messages may wait to be taken; further ones are counted and thrown away.
    package var maximumInbound: Int
    /// How many bytes of a received payload are kept.
    package var maximumInboundPayload: Int

    /// Options; protocol 5, a keep-alive of 15 s (a dead broker is noticed within half a minute) and a timeout of 10 s
    /// by default.
    package init(
        servers: [BrokerServer], clientID: String, version: MQTTVersion = .v5, username: String? = nil,
        password: String? = nil, tls: TLSOptions = TLSOptions(), keepAlive: Duration = .seconds(15),
        will: OutboundMessage? = nil, timeout: Duration = .seconds(10), window: Int = defaultWindow,
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
