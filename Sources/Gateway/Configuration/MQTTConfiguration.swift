import Contract
package import GatewayKit
import Listening
package import MQTT
import Vitals

/// `mqtt:`, the broker and its connection.
package struct MQTTConfiguration: Sendable, Hashable {
    /// `url`: `mqtt://HOST[:PORT]`, or `mqtts://` for TLS; a list is tried in order (the brokers of a cluster). Required.
    package var servers: [BrokerServer]
    /// `base_topic`: the start of every topic. Default `vitals2mqtt`.
    package var baseTopic: String
    /// `protocol`: `auto` (here `nil`: 5, and 3.1.1 where the broker refuses that or the library cannot read it safely), `5` or
    /// `3.1.1`. Default auto.
    package var version: MQTTVersion?
    /// `username`: default none.
    package var username: String?
    /// `password`: `{file: PATH}` or `{env: NAME}`. Default none.
    package var password: Secret?
    /// `tls`: `ca_file` (default: the system's authorities), `certificate_file` and `key_file` (a client certificate), and
    /// `check_hostname` (default true).
    package var tls: TLSOptions
    /// `keep_alive`: the silence after which the broker is pinged, and given up soon after; 5s to 65535s, default 15s.
    package var keepAlive: Duration
    /// `client_id`: the name of the connection, unique at the broker. Default `vitals2mqtt-<gateway>`.
    package var clientID: String

    /// The default of `keep_alive`: a broker that is gone is detected within half a minute.
    package static let defaultKeepAlive: Duration = .seconds(15)
    /// The maximum characters of `client_id`. MQTT allows 65,535 bytes; brokers allow less and log it everywhere.
    static let maximumClientIDLength = 128

    /// The settings of the broker's client, except the will.
    package var brokerOptions: BrokerOptions {
        BrokerOptions(
            servers: servers, clientID: clientID, version: version, username: username, password: password?.value,
            tls: tls, keepAlive: keepAlive, maximumInboundPayload: BrokerOptions.maximumInboundPacket)
    }
}

extension MQTTConfiguration {
    /// Reads `mqtt:`.
    init(_ reader: inout ConfigurationReader, gateway: String) {
        servers = reader.servers("url")
        baseTopic = reader.string(
            "base_topic", default: ContractTopics.defaultBase, about: "The beginning of every topic.")
        if let issue = ContractTopics.issue(inBase: baseTopic) {
            reader.report("The base topic \(issue).", at: "base_topic")
        }
        let choice = reader.choice(
            "protocol", default: ProtocolChoice.auto,
            about: "The version of MQTT; auto is 5, or 3.1.1 if the broker refuses 5 or libmosquitto is too old.")
        version = MQTTVersion(rawValue: choice.rawValue)
        if version == .v311 {
            reader.warn(
                "MQTT 3.1.1 cannot limit packets: whoever may send commands can send one of 256 MB, which is read as a whole. Set "
                    + "message_size_limit at the broker, or use protocol: auto.", at: "protocol")
        }
        username = reader.optionalString("username", about: "The user at the broker.")
        password = reader.secret("password", about: "The user's password.")
        keepAlive = reader.duration(
            "keep_alive", in: BrokerOptions.minimumKeepAlive...BrokerOptions.maximumKeepAlive,
            default: Self.defaultKeepAlive,
            about: "The silence after which the broker is pinged, and given up soon after; whole seconds.")
        if keepAlive.inMilliseconds % 1000 != 0 { reader.report("Whole seconds are needed here.", at: "keep_alive") }
        clientID = reader.string(
            "client_id", default: "vitals2mqtt-\(gateway)",
            about: "The name of the connection, unique at the broker; by default with the gateway's id.")
        if clientID.count > Self.maximumClientIDLength || clientID.contains(where: { !$0.isASCII || $0 < " " }) {
            reader.report("At most \(Self.maximumClientIDLength) ASCII characters are taken here.", at: "client_id")
        }
        if password != nil, username == nil {
            reader.report("A password needs a username beside it.", at: "password")
        }
        let hasTLS = reader.value("tls") != nil
        tls = reader.section("tls", about: "For addresses with mqtts.") { TLSOptions(&$0) }
        if hasTLS, !servers.isEmpty, !servers.contains(where: \.isTLS) {
            reader.report("tls does nothing here: no url begins with mqtts://.", at: "tls")
        }
        if password != nil, let server = servers.first(where: { !$0.isTLS && !$0.isLoopback }) {
            reader.warn("The password goes to \(server) in the clear; mqtts:// protects it.", at: "url")
        }
    }
}

extension ConfigurationReader {
    fileprivate mutating func servers(_ key: String) -> [BrokerServer] {
        let texts = oneOrMoreStrings(key, limit: ConfigurationLimits.brokers)
        describe(
            key, "mqtt://HOST[:PORT], mqtts:// for TLS, or list of at most \(ConfigurationLimits.brokers)",
            default: KeyDescription.required, about: "The broker; a list is tried in order.")
        guard let urls = texts else {
            report("\(key) is missing; write mqtt://127.0.0.1:1883, or mqtts://HOST:8883 for TLS.", at: key)
            return []
        }
        return urls.filter { !$0.isEmpty }.compactMap { url in
            do throws(BrokerError) {
                return try BrokerServer(url: url)
            } catch {
                report(error.message, at: key)
                return nil
            }
        }
    }
}

/// The words of `protocol`: `auto`, or a version.
private enum ProtocolChoice: String, CaseIterable {
    case auto
    case v5 = "5"
    case v311 = "3.1.1"
}

extension BrokerServer {
    /// Whether the broker runs on this machine, so that the connection cannot be tapped.
    fileprivate var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }
}

extension TLSOptions {
    /// Reads `mqtt.tls:`. The files must be there: a broker would only say that the handshake failed.
    fileprivate init(_ reader: inout ConfigurationReader) {
        self.init(
            caFile: reader.pemFile("ca_file", about: "The trusted authorities, in place of the system's."),
            certificateFile: reader.pemFile("certificate_file", about: "The gateway's own certificate."),
            keyFile: reader.pemFile("key_file", isSecret: true, about: "The key of the certificate."),
            checksHostname: reader.flag(
                "check_hostname", default: true, about: "Whether the broker's certificate must contain its host name."))
        if (certificateFile == nil) != (keyFile == nil) {
            reader.report(
                "certificate_file and key_file belong together.",
                at: certificateFile == nil ? "key_file" : "certificate_file")
        }
        // The broker's client reads them by another library, which may know more kinds.
        reader.reportUnusable(certificate: (name: "ca_file", path: caFile), isRead: false)
        reader.reportUnusable(
            certificate: (name: "certificate_file", path: certificateFile), key: (name: "key_file", path: keyFile),
            isRead: false)
        if !checksHostname {
            reader.warn("Any certificate of the same authority passes as the broker's.", at: "check_hostname")
        }
    }
}
