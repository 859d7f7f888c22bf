import MQTT

/// The options of a real mosquitto for a test.
package struct MosquittoOptions: Sendable {
    /// Whether the server uses TLS, and whether clients need a certificate.
    package enum Encryption: Sendable {
        /// No encryption.
        case none
        /// TLS; the server has a certificate for `localhost` and `127.0.0.1`.
        case server
        /// TLS; clients also need a certificate.
        case mutual
        /// TLS; the server's certificate was valid for a day of the past.
        case expired
    }
    /// Whether messages and sessions survive a restart.
    package var isPersistent: Bool
    /// User names and passwords; if empty, anyone may connect.
    package var users: [String: String]
    /// The lines of the access list; if empty, everything is allowed.
    package var accessList: [String]
    /// The encryption.
    package var encryption: Encryption
    /// More lines for the configuration file.
    package var lines: [String]

    /// A line for a broker that only drops what its access list refuses, as it does by default: with an unlimited queue, which tests
    /// have otherwise, mosquitto 2.0.11 takes the queue for full then, and ends the connection.
    package static let endsNoRefusedPublisher = "max_queued_messages 100000"

    /// Creates options; by default anyone may connect, without encryption or persistence.
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

    /// The text of the configuration file for a server in `directory`.
    func configuration(directory: String, port: Int, user: String) -> String {
        var text = [
            "listener \(port) 127.0.0.1",
            // If started by root, mosquitto would become a user without access to the test's files.
            "user \(user)",
            "allow_anonymous \(users.isEmpty)",
            "log_dest stderr", "log_type error", "log_type warning", "log_type notice", "log_type information",
            // A slow subscriber in a test must not lose messages.
            "max_queued_messages 0",
            "persistence \(isPersistent)",
        ]
        if isPersistent { text.append("persistence_location \(directory)/") }
        if !users.isEmpty { text.append("password_file \(directory)/passwords") }
        if !accessList.isEmpty { text.append("acl_file \(directory)/access") }
        if encryption != .none {
            let name = encryption == .expired ? "expired" : "server"
            text += [
                "cafile \(directory)/ca.pem", "certfile \(directory)/\(name).pem", "keyfile \(directory)/\(name).key",
            ]
            text.append("require_certificate \(encryption == .mutual)")
        }
        return (text + lines).joined(separator: "\n") + "\n"
    }
}
