package import MQTT

/// A message that a client has received.
package struct ReceivedMessage: Sendable, Equatable {
    /// The message as the client got it.
    package var message: InboundMessage
    /// When it arrived, on the broker's clock.
    package var uptime: Duration
}
