/// What a caller calls one of its published messages, for instance the number of a row of its outbox.
package struct MessageToken: RawRepresentable, Sendable, Hashable {
    /// The caller's number.
    package var rawValue: Int64

    /// A token from the caller's number.
    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// A token for messages whose acknowledgement nobody waits for.
    package static let unnamed = MessageToken(rawValue: .min)
}

/// Everything that happened on a connection since it was last asked. Kinds are kept apart, as their order does not
/// matter to anyone and acknowledgements come by the thousand.
package struct BrokerEvents: Sendable, Equatable {
    /// Published messages that the broker took over, in the order of their acknowledgements.
    package var acknowledged: [MessageToken]
    /// Published messages that the broker answered with an error (only MQTT 5 can tell).
    package var refused: [RefusedMessage]
    /// Messages that subscriptions brought, in order.
    package var received: [InboundMessage]
    /// Messages that were received and thrown away, because too many were waiting to be taken.
    package var droppedCount: Int

    /// Events; nothing has happened by default.
    package init(
        acknowledged: [MessageToken] = [], refused: [RefusedMessage] = [], received: [InboundMessage] = [],
        droppedCount: Int = 0
    ) {
        self.acknowledged = acknowledged
        self.refused = refused
        self.received = received
        self.droppedCount = droppedCount
    }

    /// Whether nothing has happened.
    package var isEmpty: Bool { acknowledged.isEmpty && refused.isEmpty && received.isEmpty && droppedCount == 0 }
}

/// A published message that the broker did not take.
package struct RefusedMessage: Sendable, Hashable {
    /// What the caller called the message.
    package var token: MessageToken
    /// Why.
    package var reason: RefusalReason

    /// A refusal of the message called `token`.
    package init(token: MessageToken, reason: RefusalReason) {
        self.token = token
        self.reason = reason
    }
}

/// Why a broker refused a message: a reason code of a PUBACK (MQTT 5, section 3.4.2.1).
package enum RefusalReason: Sendable, Hashable {
    /// 0x87: the user may not publish on this topic. Sending again helps only after the broker's rules changed.
    case notAuthorized
    /// 0x97: a limit of the broker is reached. Send again later.
    case quotaExceeded
    /// 0x90: the broker does not accept the topic.
    case invalidTopic
    /// 0x95: longer than the broker accepts.
    case packetTooLarge
    /// 0x99: the payload is not what its format indicator says.
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

    /// Whether the same message may be accepted later without anybody's doing.
    package var isTemporary: Bool {
        switch self {
        case .quotaExceeded, .other: true
        case .notAuthorized, .invalidTopic, .packetTooLarge, .invalidPayload: false
        }
    }
}
