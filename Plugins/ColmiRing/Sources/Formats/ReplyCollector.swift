/// A reply of the ring: a packet of its first service, or a message of its second.
enum RingValue: Sendable, Hashable {
    case packet(RingPacket)
    case message(BigMessage)
}

/// How a value advances the reply to a request.
enum ReplyProgress: Sendable, Hashable {
    /// It is no part of it, or one that came before.
    case unrelated
    /// More parts must come.
    case more
    /// The reply is whole.
    case done
}

/// Collects the parts of the reply to one request. Others may come between them.
protocol ReplyCollector: Sendable {
    mutating func collect(_ value: RingValue) -> ReplyProgress
}

/// A reply of one packet.
struct PacketReply: ReplyCollector {
    let command: UInt8
    /// The bytes with which its data begin.
    let beginning: [UInt8]
    private(set) var packet: RingPacket?

    init(_ command: UInt8, beginning: [UInt8] = []) {
        self.command = command
        self.beginning = beginning
    }

    mutating func collect(_ value: RingValue) -> ReplyProgress {
        guard case .packet(let packet) = value, packet.command == command, packet.data.starts(with: beginning) else {
            return .unrelated
        }
        self.packet = packet
        return .done
    }
}

/// A reply of one message.
struct MessageReply: ReplyCollector {
    let type: UInt8
    private(set) var body: [UInt8] = []

    init(_ type: UInt8) { self.type = type }

    mutating func collect(_ value: RingValue) -> ReplyProgress {
        guard case .message(let message) = value, message.type == type else { return .unrelated }
        body = message.body
        return .done
    }
}
