/// What went wrong with a broker, and what to do about it.
package struct BrokerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What a program can do about it.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// The options make no connection possible: the configuration must be changed.
        case invalidOptions
        /// No connection to the host and port. Try again, or the next server.
        case unreachable
        /// No answer in time. Try again, or the next server.
        case timedOut
        /// No trusted encrypted connection. The certificates or the broker's address must be changed.
        case tls
        /// The broker refused the user name or password.
        case badCredentials
        /// The broker knows the user but does not let it connect.
        case notAuthorized
        /// The broker does not speak the configured protocol version.
        case unsupportedVersion
        /// The broker refused the connection for another reason. Try again later.
        case refused
        /// An open connection ended. Open a new one.
        case broken
        /// As many messages as allowed are not acknowledged yet. Wait for events.
        case windowFull
        /// The message cannot be sent by MQTT, or by this broker. Do not send it again.
        case invalidMessage
        /// The broker refused a subscription, which the message names.
        case subscriptionRefused
        /// The calling task was cancelled.
        case cancelled
    }

    /// What happened, for a program.
    package var code: Code
    /// What happened and what to do, for a person. Contains no password.
    package var message: String

    /// An error.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The calling task was cancelled.
    package static let cancelled = BrokerError(.cancelled, "The task that used the broker was cancelled.")

    /// As many messages are unacknowledged as `window` allows.
    package static func windowFull(_ window: Int) -> BrokerError {
        BrokerError(.windowFull, "\(window) messages are not acknowledged yet; wait for acknowledgements.")
    }

    /// The text for a person.
    package var description: String { message }
}
