import MQTT

/// How a real mosquitto for a test is set up.
package struct MosquittoOptions: Sendable {
    /// Whether clients need TLS, and a certificate.
    package enum Encryption: Sendable {
        /// No encryption.
        case none
        /// The server has a certificate for `localhost` and `127.0.0.1`.
        case server
        /// Clients need a certificate too.
        case mutual
    }
    /// Whether messages and sessions survive a restart.
    package var isPersistent: Bool
    /// User names and passwords; anyone may connect when empty.
    package var users: [String: String]
    /// The lines of the access list; everything is allowed when empty.
    package var accessList: [String]
    /// Encryption and certificates.
    package var encryption: Encryption
    /// Further lines of the configuration file.
    package var lines: [String]

    /// A server for everyone, without encryption or memory by default.
    package init(
        isPersistent: Bool = false, users: [String: String] = [:], accessList: [String] = [],
        encryption: Encryption = .none, lines: [String] = []
    ) {
        self.isPersistent = isPersistent
        self.users = users
        self.accessList = accessList
        self.encryption = encryption
        self.lines = lines
    }

    /// The configuration file of a server in `directory`.
    func configuration(directory: String, port: Int, user: String) -> String {
        var text = [
            "listener \(port) 127.0.0.1",
            // Started by root, mosquitto would become a user who cannot read the test's files.
            "user \(user)",
            "allow_anonymous \(users.isEmpty)",
            "log_dest stderr", "log_type error", "log_type warning", "log_type notice", "log_type information",
            // A slow subscriber of a test must not lose messages for it.
            "max_queued_messages 0",
            "persistence \(isPersistent)",
        ]
        if isPersistent { text.append("persistence_location \(directory)/") }
        if !users.isEmpty { text.append("password_file \(directory)/passwords") }
        if !accessList.isEmpty { text.append("acl_file \(directory)/access") }
        if encryption != .none {
            text += [
                "cafile \(directory)/ca.pem", "certfile \(directory)/server.pem", "keyfile \(directory)/server.key",
            ]
            text.append("require_certificate \(encryption == .mutual)")
        }
        return (text + lines).joined(separator: "\n") + "\n"
    }
}
