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
