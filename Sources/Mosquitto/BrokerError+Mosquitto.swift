internal import CMosquitto
import MQTT

/// Maps error numbers of libmosquitto and MQTT to errors with a remedy.
extension BrokerError {
    /// An unsuccessful CONNACK: return codes 1 to 5 of MQTT 3.1.1 (section 3.2.2.3), reason codes from 0x80 of
    /// MQTT 5 (section 3.2.2.2).
    static func connectionRefused(_ code: Int32, by server: BrokerServer, version: MQTTVersion) -> BrokerError {
        let isV5 = code >= 0x80
        switch code {
        case 1, 0x84:
            return BrokerError(
                .unsupportedVersion,
                "\(server) does not speak MQTT \(version.rawValue). Set the protocol to auto, or to the other version.")
        case 4, 0x86, 0x8C:
            return BrokerError(
                .badCredentials, "\(server) refused the user name or password. Correct them.")
        case 5, 0x87:
            return BrokerError(
                .notAuthorized,
                "\(server) does not let this client connect. Check user name, password and the broker's access rules.")
        case 2, 0x85:
            return BrokerError(.refused, "\(server) does not accept the client's name.")
        default:
            let reason = String(cString: isV5 ? mosquitto_reason_string(code) : mosquitto_connack_string(code))
            return BrokerError(.refused, "\(server) refused the connection: \(reason)")
        }
    }

    /// The error for a failed connection attempt, from libmosquitto's error, the system's error, libmosquitto's log,
    /// and the certificates if TCP was already connected.
    static func notOpened(
        _ code: Int32, systemError: Int32, log: [String], server: BrokerServer, tls: TLSOptions?
    ) -> BrokerError {
        if server.isTLS, let tls = tlsFailure(code, log: log, server: server) { return tls }
        if server.isTLS, let tls, tls.certificateFile == nil, code != MOSQ_ERR_KEEPALIVE.rawValue {
            // With TLS 1.3 the broker's alert may be lost in the reset of the connection.
            return BrokerError(
                .tls,
                "\(server) closed the encrypted connection without an answer. Check that the port is one with TLS. If the "
                    + "broker wants a client's certificate, set certificate_file and key_file.")
        }
        switch mosq_err_t(code) {
        case MOSQ_ERR_EAI, MOSQ_ERR_LOOKUP:
            return BrokerError(.unreachable, "The host name of \(server) cannot be resolved. Check name and network.")
        case MOSQ_ERR_KEEPALIVE:
            return BrokerError(
                .unreachable, "\(server) took the connection but does not answer. Check that the broker does not hang.")
        case MOSQ_ERR_INVAL:
            return BrokerError(.invalidOptions, "The library accepts neither \(server) nor its options.")
        case MOSQ_ERR_ERRNO:
            let reason = String(cString: mosquitto_strerror(code))
            let system = systemError == 0 ? reason : systemMessage(systemError)
            return BrokerError(
                .unreachable, "\(server) cannot be reached: \(system). Start the broker, or correct mqtt.url.")
        default:
            let reason = String(cString: mosquitto_strerror(code))
            let hint =
                server.isTLS ? " Check that the port is one with TLS." : " If the broker expects TLS, write mqtts://."
            return BrokerError(.unreachable, "\(server) did not complete the connection: \(reason)\(hint)")
        }
    }

    /// OpenSSL's texts for alerts about the client's certificate.
    private static let certificateAlerts = ["certificate", "unknown ca", "decrypt error", "access denied"]

    private static func tlsFailure(_ code: Int32, log: [String], server: BrokerServer) -> BrokerError? {
        let text = log.joined(separator: "; ")
        let what: String
        if text.contains("host name verification failed") {
            what = "its certificate is for another host name. Use the name in the certificate"
        } else if text.contains("certificate verify failed") {
            what =
                "its certificate is not signed by a trusted authority, or not valid today. Check ca_file and the clock"
        } else if text.contains("alert") {
            // TLS 1.2 reports a missing certificate as a failed handshake, like many other failures.
            what =
                certificateAlerts.contains { text.contains($0) }
                ? "the broker did not accept this client's certificate. Check certificate_file and key_file"
                : "the broker refused the encrypted connection. Check that it speaks TLS 1.2 or 1.3 for this host name, "
                    + "and whether it wants a client's certificate"
        } else if text.contains("CA certificates") {
            what = "ca_file contains no certificate authority in PEM form"
        } else if text.contains("client certificate") || text.contains("client key") || text.contains("inconsistent") {
            what = "certificate_file and key_file are not a PEM certificate and its unencrypted key"
        } else if code == MOSQ_ERR_TLS.rawValue || text.contains("OpenSSL") {
            what = "the encrypted connection failed. Check that the port is the one with TLS"
        } else {
            return nil
        }
        return BrokerError(.tls, "\(server): \(what)." + (text.isEmpty ? "" : " (\(text))"))
    }

    /// The error for an open connection that ended; `code` is libmosquitto's error, or from 0x80 the reason of the
    /// broker's DISCONNECT.
    static func broken(_ code: Int32, server: BrokerServer) -> BrokerError {
        if code >= 0x80 {
            let reason = String(cString: mosquitto_reason_string(code))
            let hint =
                code == MQTT_RC_SESSION_TAKEN_OVER.rawValue
                ? " Another client uses the same client id; every gateway needs its own." : ""
            return BrokerError(.broken, "\(server) ended the connection: \(reason)\(hint)")
        }
        guard code != MOSQ_ERR_KEEPALIVE.rawValue else {
            return BrokerError(.broken, "\(server) did not answer any more; the connection is given up.")
        }
        // mosquitto 2.0 closes the connection without a reason when another client takes it over.
        guard code != MOSQ_ERR_CONN_LOST.rawValue else {
            return BrokerError(
                .broken,
                "\(server) closed the connection. If that happens again and again, look for another client with the "
                    + "same client id.")
        }
        let reason = String(cString: mosquitto_strerror(code))
        return BrokerError(.broken, "The connection to \(server) was lost: \(reason)")
    }

    /// The error for a message that libmosquitto did not accept.
    static func notPublished(_ code: Int32, topic: String, server: BrokerServer) -> BrokerError {
        let what: String
        switch mosq_err_t(code) {
        case MOSQ_ERR_INVAL: what = "is empty or contains a wildcard"
        case MOSQ_ERR_MALFORMED_UTF8: what = "is not valid UTF-8 for MQTT"
        case MOSQ_ERR_PAYLOAD_SIZE: what = "got a payload over 256 MiB"
        case MOSQ_ERR_OVERSIZE_PACKET: what = "got a message longer than the broker accepts"
        case MOSQ_ERR_RETAIN_NOT_SUPPORTED: what = "got a retained message, which the broker does not support"
        case MOSQ_ERR_QOS_NOT_SUPPORTED: what = "got quality of service 1, which the broker does not support"
        case MOSQ_ERR_PROTOCOL, MOSQ_ERR_DUPLICATE_PROPERTY: what = "got a property that MQTT does not allow"
        default: return .broken(code, server: server)
        }
        return BrokerError(.invalidMessage, "The topic \"\(topic)\" \(what).")
    }
}
