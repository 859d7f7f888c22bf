import Concurrency
import GatewayKit
import Vitals

/// Asks a ring one thing after the other, and collects its replies.
actor RingRequestQueue {
    /// The pause after which a ring that sends no further part has given up, or a part is lost.
    static let timeout: Duration = .seconds(5)
    /// The number of attempts of a request.
    static let attempts = 2

    private let link: any GATTLink
    private let characteristics: RingCharacteristics
    private let clock: GatewayClock
    private let runner = SerialRunner()
    private var assembler = BigMessageAssembler()
    private var running: (any ReplyCollector)?
    /// The command that a refusal would name.
    private var command: UInt8?
    private var answer: Promise<Result<Void, DeviceError>>?
    /// Parts of the running reply, and pieces of messages.
    private var arrivals = 0
    private var end: DeviceError?

    init(_ link: any GATTLink, _ characteristics: RingCharacteristics, clock: GatewayClock) {
        self.link = link
        self.characteristics = characteristics
        self.clock = clock
    }

    /// Asks until the task is cancelled.
    nonisolated func run() async { await runner.run() }

    /// Sends a packet, and waits until its reply is whole.
    /// - Throws: `unsupported` if the ring refuses it, `timeout` if it says nothing, `failure` if a part of the reply is lost.
    nonisolated func ask<Reply: ReplyCollector>(
        _ packet: RingPacket, for reply: Reply, timeout: Duration = RingRequestQueue.timeout,
        attempts: Int = RingRequestQueue.attempts
    ) async throws(DeviceError) -> Reply {
        try await perform { () async throws(DeviceError) in
            try await self.exchange({ packet.bytes }, packet.command, reply, timeout, attempts)
        }
    }

    /// Sends a packet that has the time: it is made when its turn has come, and anew if it is repeated.
    nonisolated func send(
        _ packet: @escaping @Sendable () throws(DeviceError) -> RingPacket, command: UInt8
    ) async throws(DeviceError) {
        _ = try await perform { () async throws(DeviceError) in
            try await self.exchange(
                { () throws(DeviceError) in try packet().bytes }, command, PacketReply(command), Self.timeout,
                Self.attempts)
        }
    }

    /// Asks for a message of the second service.
    nonisolated func ask(message type: UInt8) async throws(DeviceError) -> [UInt8] {
        try await perform { () async throws(DeviceError) in
            try await self.exchange(
                { BigMessage.request(type) }, nil, MessageReply(type), Self.timeout, Self.attempts
            ).body
        }
    }

    /// Takes a packet. Returns whether a reply waits for it.
    func receive(_ packet: RingPacket) -> Bool {
        if let command, packet.refuses(command) {
            answer?.fulfil(.failure(.unsupported("the request \(command)")))
            return true
        }
        return advance(.packet(packet))
    }

    /// Takes a piece of a message.
    /// - Throws: one that cannot be read.
    func receive(piece: [UInt8]) throws(FormatError) {
        arrivals += 1
        if let message = try assembler.append(piece) { _ = advance(.message(message)) }
    }

    /// Fails what waits and what comes: the link is over.
    func close(_ error: DeviceError) {
        if end == nil { end = error }
        answer?.fulfil(.failure(error))
    }

    private func advance(_ value: RingValue) -> Bool {
        guard var collector = running else { return false }
        let progress = collector.collect(value)
        running = collector
        if progress == .unrelated { return false }
        arrivals += 1
        if progress == .done { answer?.fulfil(.success(())) }
        return true
    }

    private nonisolated func perform<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws(DeviceError) -> Value
    ) async throws(DeviceError) -> Value {
        let result = await runner.perform { () -> Result<Value, DeviceError> in
            do throws(DeviceError) { return .success(try await operation()) } catch { return .failure(error) }
        }
        guard let result else { throw DeviceError(.disconnected, "The gateway no longer waits for the ring.") }
        return try result.get()
    }

    private func exchange<Reply: ReplyCollector>(
        _ request: @Sendable () throws(DeviceError) -> [UInt8], _ command: UInt8?, _ reply: Reply,
        _ timeout: Duration, _ attempts: Int
    ) async throws(DeviceError) -> Reply {
        let before = arrivals
        self.command = command
        defer { (running, self.command, answer) = (nil, nil, nil) }
        for _ in 0..<attempts {
            if let end { throw end }
            let answer = Promise<Result<Void, DeviceError>>()
            self.answer = answer
            // Each answer is whole or nothing: what the ring has may have changed since the one before.
            running = reply
            // What is left of a message that was not whole.
            assembler.reset()
            let target = command == nil ? characteristics.messageRequests : characteristics.requests
            guard let target else { throw .unsupported("messages") }
            let bytes = try request()
            do {
                try await link.write(bytes, to: target, target.fastestWrite)
            } catch { throw DeviceError(error, "The request to the ring") }
            if try await isAnswered(answer, timeout), let whole = running as? Reply { return whole }
        }
        guard arrivals > before else {
            throw DeviceError(.timeout, "The ring does not answer.")
        }
        throw DeviceError(.failure, "A part of the ring's answer was lost.")
    }

    /// Waits while parts come. Returns whether the reply is whole.
    private func isAnswered(
        _ answer: Promise<Result<Void, DeviceError>>, _ timeout: Duration
    ) async throws(DeviceError) -> Bool {
        while true {
            let before = arrivals
            let result = await clock.withTimeout(timeout) { try? await answer.wait() }
            switch result {
            case .some(.some(let result)):
                try result.get()
                return true
            case .some(.none): throw DeviceError(.disconnected, "The session is over.")
            case .none where arrivals > before: continue
            case .none: return false
            }
        }
    }
}
