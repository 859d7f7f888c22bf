import GatewayKit

/// What a ring sends: a packet of its first service, or a piece of a message of its second, and the message that the piece completes.
enum RingValue: Sendable, Hashable {
    case packet(RingPacket)
    case piece
    case message(BigMessage)
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
