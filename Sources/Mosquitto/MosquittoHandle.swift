internal import CMosquitto
internal import Glibc
import MQTT

/// A configured libmosquitto client that is not yet connected. Must be destroyed exactly once.
///
/// Sendable is unchecked for the C type: with `mosquitto_threaded_set` libmosquitto locks its own state, and one thread
/// may run the network while another publishes. The owner must order only the destruction.
struct MosquittoHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    /// `mosquitto_lib_init` is not thread-safe; a static initialiser runs once.
    private static let library: Int32 = mosquitto_lib_init()

    /// A client with these options and this version; its callbacks receive `context`.
    init(
        _ options: BrokerOptions, version: MQTTVersion, server: BrokerServer, context: UnsafeMutableRawPointer
    ) throws(BrokerError) {
        guard Self.library == MOSQ_ERR_SUCCESS.rawValue else {
            throw BrokerError(.invalidOptions, "libmosquitto cannot be used: \(systemMessage(errno))")
        }
        guard let pointer = mosquitto_new(options.clientID, true, context) else {
            throw BrokerError(.invalidOptions, "The client id \"\(options.clientID)\" is not usable.")
        }
        self.pointer = pointer
        do {
            try configure(options, version)
            if server.isTLS { try configureTLS(options.tls) }
        } catch {
            mosquitto_destroy(pointer)
            throw error
        }
    }

    private func configure(_ options: BrokerOptions, _ version: MQTTVersion) throws(BrokerError) {
        let number = version == .v5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311
        try check(mosquitto_int_option(pointer, MOSQ_OPT_PROTOCOL_VERSION, number), "the protocol version")
        try check(mosquitto_int_option(pointer, MOSQ_OPT_TCP_NODELAY, 1), "immediate sending")
        try check(mosquitto_int_option(pointer, MOSQ_OPT_SEND_MAXIMUM, Int32(options.window)), "the window")
        try check(mosquitto_threaded_set(pointer, true), "threads")
        if let username = options.username {
            try check(mosquitto_username_pw_set(pointer, username, options.password), "the user name or password")
        }
        if let will = options.will {
            var properties = try MessageProperties(will, version: version)
            let code = mosquitto_will_set_v5(
                pointer, will.topic, Int32(will.payload.count), will.payload, Int32(will.qos.rawValue),
                will.isRetained, properties.list)
            // libmosquitto owns the properties of a will that it accepted.
            if code == MOSQ_ERR_SUCCESS.rawValue { properties.disown() }
            try check(code, "the will on \"\(will.topic)\"")
        }
    }

    private func configureTLS(_ tls: TLSOptions) throws(BrokerError) {
        for (key, file) in [
            ("ca_file", tls.caFile), ("certificate_file", tls.certificateFile), ("key_file", tls.keyFile),
        ] {
            guard let file, access(file, R_OK) != 0 else { continue }
            throw BrokerError(.tls, "\(key) \(file) cannot be read: \(systemMessage(errno)).")
        }
        guard (tls.certificateFile == nil) == (tls.keyFile == nil) else {
            throw BrokerError(.tls, "Set both certificate_file and key_file, or neither.")
        }
        // The directory of the operating system's trusted authorities on Debian and most others.
        let directory = tls.caFile == nil ? "/etc/ssl/certs" : nil
        // Without a callback OpenSSL would ask for a key's passphrase on the terminal.
        let code = mosquitto_tls_set(
            pointer, tls.caFile, directory, tls.certificateFile, tls.keyFile, { _, _, _, _ in 0 })
        try check(code, "the certificates")
        try check(mosquitto_tls_insecure_set(pointer, !tls.checksHostname), "the check of the host name")
    }

    private func check(_ code: Int32, _ what: String) throws(BrokerError) {
        guard code != MOSQ_ERR_SUCCESS.rawValue else { return }
        let reason = String(cString: mosquitto_strerror(code))
        throw BrokerError(.invalidOptions, "The MQTT library does not accept \(what): \(reason)")
    }
}
