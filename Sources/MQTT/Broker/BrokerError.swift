/// A broker failure, and what to do about it.
package struct BrokerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, by what a program can do about it.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// No connection is possible with these options. Change the configuration.
        case invalidOptions
        /// No connection to the host and port. Try again, or the next server.
        case unreachable
        /// No answer in time. Try again, or the next server.
        case timedOut
        /// No trusted encrypted connection. Change the certificates or the broker's address.
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
        /// The window is full of unacknowledged messages. Wait for events.
        case windowFull
        /// MQTT or this broker does not allow the message. Do not send it again.
        case invalidMessage
        /// The broker refused a subscription; the message names it.
        case subscriptionRefused
        /// The calling task was cancelled.
        case cancelled
    }

    /// The failure for a program.
    package var code: Code
    /// The failure and its remedy for a person. Contains no password.
    package var message: String

    /// An error.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The calling task was cancelled.
    package static let cancelled = BrokerError(.cancelled, "The task that used the broker was cancelled.")

    /// The number of unacknowledged messages has reached `window`.
    package static func windowFull(_ window: Int) -> BrokerError {
        BrokerError(.windowFull, "\(window) messages are not acknowledged yet; wait for acknowledgements.")
    }

    /// The text for a person.
    package var description: String { message }
}
