/// The caller's identifier of a published message, for instance a row number of its outbox.
package struct MessageToken: RawRepresentable, Sendable, Hashable {
    /// The caller's number.
    package var rawValue: Int64

    /// A token from the caller's number.
    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// The token of messages without a tracked acknowledgement.
    package static let unnamed = MessageToken(rawValue: .min)
}

/// All events of a connection since the last query. Kinds are separate: their relative order does not matter, and
/// acknowledgements arrive by the thousand.
package struct BrokerEvents: Sendable, Equatable {
    /// Published messages that the broker acknowledged, in the order of their acknowledgements.
    package var acknowledged: [MessageToken]
    /// Published messages that the broker answered with an error (reported only by MQTT 5).
    package var refused: [RefusedMessage]
    /// Messages received through subscriptions, in order.
    package var received: [InboundMessage]
    /// The number of received messages dropped because too many were waiting.
    package var droppedCount: Int

    /// Events; none by default.
    package init(
        acknowledged: [MessageToken] = [], refused: [RefusedMessage] = [], received: [InboundMessage] = [],
        droppedCount: Int = 0
    ) {
        self.acknowledged = acknowledged
        self.refused = refused
        self.received = received
        self.droppedCount = droppedCount
    }

    /// Whether there are no events.
    package var isEmpty: Bool { acknowledged.isEmpty && refused.isEmpty && received.isEmpty && droppedCount == 0 }
}

/// A published message that the broker refused.
package struct RefusedMessage: Sendable, Hashable {
    /// The caller's token of the message.
    package var token: MessageToken
    /// The reason of the refusal.
    package var reason: BrokerRefusal

    /// A refusal of the message with `token`.
    package init(token: MessageToken, reason: BrokerRefusal) {
        self.token = token
        self.reason = reason
    }
}

/// Why a broker refused a message: a reason code of a PUBACK (MQTT 5, section 3.4.2.1).
package enum BrokerRefusal: Sendable, Hashable {
    /// 0x87: the user may not publish on this topic. Sending again helps only after the broker's rules changed.
    case notAuthorized
    /// 0x97: a limit of the broker is reached. Send again later.
    case quotaExceeded
    /// 0x90: the broker does not accept the topic.
    case invalidTopic
    /// 0x95: the message is longer than the broker accepts.
    case packetTooLarge
    /// 0x99: the payload does not match its format indicator.
    case invalidPayload
    /// Any other code from 0x80 on.
    case other(UInt8)

    /// The meaning of a reason code; `nil` when it is below 0x80, which is success.
    package init?(code: UInt8) {
        switch code {
        case ..<0x80: return nil
        case 0x87: self = .notAuthorized
        case 0x90: self = .invalidTopic
        case 0x95: self = .packetTooLarge
        case 0x97: self = .quotaExceeded
        case 0x99: self = .invalidPayload
        default: self = .other(code)
        }
    }
}
