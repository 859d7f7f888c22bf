import Concurrency
import Contract
import DequeModule
import Logging
import MQTT
import Vitals

/// Sends the outbox and the retained states on one connection.
struct Publisher: Sendable {
    /// Facts between two states under load, so that facts do not starve states.
    private static let factsPerState = 8

    let outbox: Outbox
    let retained: RetainedStates
    let status: BrokerStatus
    let store: any OutboxStore
    let codec: ContractCodec
    let outcomes: PublishOutcomes
    let settings: DeliverySettings
    var inFlight: InFlightPublishes { outcomes.inFlight }

    /// A message of several that wait for room, or of one.
    struct Outgoing {
        var message: OutgoingMessage
        var mark: DeliveryMark
        var samples = 1
    }

    /// Sends until the connection breaks.
    func run(on connection: any BrokerConnection) async throws {
        var encoder = codec.encoder
        var sent = 0
        // The further messages of a fact that goes in several.
        var parts: Deque<Outgoing> = []
        defer { status.sending.end() }
        while !Task.isCancelled {
            status.sending.begin()
            var rests = false
            while !rests {
                status.sending.turn()
                if !parts.isEmpty {
                    guard outbox.hasRoom, let part = parts.popFirst() else { break }
                    outbox.sentState()
                    try publish(part, on: connection)
                    continue
                }
                if sent % Self.factsPerState == 0, outbox.hasRoom, let entry = retained.next() {
                    parts += try send(entry, on: connection, &encoder)
                    sent += 1
                    continue
                }
                // The first message of a connection is a state: the name of the store, before its facts.
                if sent == 0, !outbox.hasRoom {
                    rests = true
                    continue
                }
                sent += 1
                switch outbox.next() {
                case .send(let entry): parts += try send(entry, on: connection, &encoder)
                case .page(let lane, let after): await page(lane, after: after)
                case .rest:
                    guard outbox.hasRoom, let entry = retained.next() else {
                        rests = true
                        break
                    }
                    parts += try send(entry, on: connection, &encoder)
                }
            }
            status.sending.end()
            await outbox.wakeup.wait()
        }
    }

    /// Sends the first message of an entry, which has its place in the window. Returns the others.
    private func send(
        _ entry: OutboxEntry, on connection: any BrokerConnection, _ encoder: inout ContractEncoder
    ) throws -> [Outgoing] {
        var messages: [Outgoing]
        switch entry {
        case .answer(let number, let answer):
            messages = answerMessages(number, answer, on: connection, &encoder)
        case .fact(let fact):
            messages = self.messages(of: fact, isReplay: false, on: connection, &encoder)
        }
        guard !messages.isEmpty else { return [] }
        try publish(messages.removeFirst(), on: connection)
        return messages
    }

    private func send(
        _ entry: RetainedStates.Entry, on connection: any BrokerConnection, _ encoder: inout ContractEncoder
    ) throws -> [Outgoing] {
        let now = settings.clock.now
        let message: OutgoingMessage
        switch entry {
        case .device(let device, let state):
            message = encoder.state(state, of: device, info: retained.info(of: device), now: now)
        case .gatewayInfo(var info):
            let whole = encoder.gatewayInfo(info)
            // The name of the store must come also where the list of devices does not fit.
            let fits = whole.packetSize(connection.version) <= connection.maximumPacketSize ?? .max
            if !fits { info.devices = [] }
            message = fits ? whole : encoder.gatewayInfo(info)
        case .gatewayState(let state):
            message = encoder.gatewayState(state)
            let uptime = settings.clock.uptime
            // It is published every few seconds.
            if inFlight.with({ $0.retriesStates(at: uptime) }) { retained.repeatAll() }
        case .message(let made): message = made
        case .stale(let topic): message = .removal(of: topic)
        case .replay(let fact):
            var messages = messages(of: fact, isReplay: true, on: connection, &encoder)
            guard !messages.isEmpty else { return [] }
            outbox.sentState()
            try publish(messages.removeFirst(), on: connection)
            return messages
        }
        outbox.sentState()
        try publish(Outgoing(message: message, mark: inFlight.with { $0.nextState() }), on: connection)
        return []
    }

    /// Hands a message over.
    private func publish(_ outgoing: Outgoing, on connection: any BrokerConnection) throws(BrokerError) {
        let (message, mark) = (outgoing.message, outgoing.mark)
        let size = message.packetSize(connection.version)
        let uptime = settings.clock.uptime
        if mark.lane == nil, inFlight.with({ $0.refusedTopics.contains(message.topic, size: size, at: uptime) }) {
            return try outcomes.refused(mark, .invalidTopic, on: message.topic, window: connection.window)
        }
        guard size <= connection.maximumPacketSize ?? .max else {
            return try outcomes.refused(mark, .packetTooLarge, on: message.topic, window: connection.window)
        }
        inFlight.with { machine in
            machine.sent(
                mark,
                PoisonMessageSplitter.Item(
                    mark.kind, topic: message.topic, size: size, samples: outgoing.samples,
                    isChosen: mark.lane == .answer && isChosen(message.topic)), at: uptime)
        }
        do throws(BrokerError) {
            try connection.publish(message, as: MessageToken(rawValue: mark.token))
        } catch  where error.code == .invalidMessage {
            settings.logger.error("A message cannot be sent.", metadata: ["error": "\(error)"])
            try outcomes.refused(mark, .invalidTopic, on: message.topic, window: connection.window)
        }
    }

    /// Whether the sender of a command chose the topic of its answer.
    func isChosen(_ topic: String) -> Bool { !topic.hasPrefix(settings.topics.root + "/") }

    private func page(_ lane: Lane, after: Int64) async {
        // Reading waits for the store's writer, whose liveness is its own.
        status.sending.end()
        defer { status.sending.begin() }
        do throws(StoreError) {
            outbox.paged(lane, try await store.pending(lane, after: after, limit: DeliveryMachine.pageSize))
        } catch {
            settings.logger.error(
                "The messages that wait for the broker cannot be read; trying again.", metadata: ["error": "\(error)"])
            do { try await settings.clock.sleep(for: .seconds(1)) } catch { return }
            outbox.pageFailed(lane)
        }
    }
}

extension DeliveryMark {
    /// What identifies the message over several connections.
    fileprivate var kind: PoisonMessageSplitter.Item.Kind {
        switch self {
        case .entry(let lane, let number): .entry(lane, number, part: 0)
        case .part(let lane, let number, let part): .entry(lane, number, part: part)
        case .replay, .state: .other
        }
    }
}
