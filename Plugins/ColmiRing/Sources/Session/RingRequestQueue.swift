import GatewayKit
import Synchronization
import Vitals

/// Asks a ring one thing after the other, and collects its replies.
final class RingRequestQueue: Sendable {
    /// The pause after which a ring that sends no further part has given up, or a part is lost.
    static let timeout: Duration = .seconds(5)
    /// The number of attempts of a request.
    static let attempts = 2

    private let link: any GATTLink
    private let characteristics: RingCharacteristics
    let requests: RequestQueue<RingValue>
    private let assembler = Mutex(BigMessageAssembler())

    init(_ link: any GATTLink, _ characteristics: RingCharacteristics, clock: GatewayClock) {
        self.link = link
        self.characteristics = characteristics
        requests = RequestQueue(to: "ring", clock: clock, timeout: Self.timeout, attempts: Self.attempts)
    }

    /// Sends a packet, and waits until its reply is whole.
    /// - Throws: `unsupported` if the ring refuses it, `timeout` if it says nothing, `failure` if a part of the reply is lost.
    func ask<Reply: ReplyCollector<RingValue>>(
        _ packet: RingPacket, for reply: Reply, timeout: Duration = RingRequestQueue.timeout,
        attempts: Int = RingRequestQueue.attempts
    ) async throws(DeviceError) -> Reply {
        try await ask(packet.command, reply, timeout, attempts) { () throws(DeviceError) in packet.bytes }
    }

    /// Sends a packet that has the time: it is made when its turn has come, and anew if it is repeated.
    func send(
        _ packet: @escaping @Sendable () throws(DeviceError) -> RingPacket, command: UInt8
    ) async throws(DeviceError) {
        _ = try await ask(command, PacketReply(command)) { () throws(DeviceError) in try packet().bytes }
    }

    /// Asks for a message of the second service.
    func ask(message type: UInt8) async throws(DeviceError) -> [UInt8] {
        let reply = try await ask(nil, MessageReply(type)) { () throws(DeviceError) in BigMessage.request(type) }
        return reply.body
    }

    /// Takes a piece of a message.
    /// - Throws: one that cannot be read.
    func receive(piece: [UInt8]) async throws(FormatError) {
        await requests.receive(.piece)
        let message = try assembler.withLock { assembler throws(FormatError) -> BigMessage? in
            try assembler.append(piece)
        }
        if let message { await requests.receive(.message(message)) }
    }

    /// - Parameter command: the command that a refusal would name; `nil` for a message.
    private func ask<Reply: ReplyCollector<RingValue>>(
        _ command: UInt8?, _ reply: Reply, _ timeout: Duration = RingRequestQueue.timeout,
        _ attempts: Int = RingRequestQueue.attempts, _ request: @escaping @Sendable () throws(DeviceError) -> [UInt8]
    ) async throws(DeviceError) -> Reply {
        let refusable = RefusableReply(command: command, reply: reply)
        let whole = try await requests.ask(for: refusable, timeout: timeout, attempts: attempts) {
            () async throws(DeviceError) in
            // What is left of a message that was not whole.
            self.assembler.withLock { $0.reset() }
            let target = command == nil ? self.characteristics.messageRequests : self.characteristics.requests
            guard let target else { throw DeviceError.unsupported("messages") }
            let bytes = try request()
            do throws(GATTError) { try await self.link.write(bytes, to: target, target.fastestWrite) } catch {
                throw DeviceError(error, "The request to the ring")
            }
        }
        return whole.reply
    }
}

/// A reply that the ring may refuse to give. Pieces of any message show that it still sends.
private struct RefusableReply<Reply: ReplyCollector<RingValue>>: ReplyCollector {
    let command: UInt8?
    var reply: Reply

    mutating func collect(_ value: RingValue) -> ReplyProgress {
        switch value {
        case .piece: return .more
        case .packet(let packet):
            if let command, packet.refuses(command) { return .refused(.unsupported("the request \(command)")) }
        case .message: break
        }
        return reply.collect(value)
    }
}
