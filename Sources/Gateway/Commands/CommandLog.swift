import Concurrency
import Contract
import Delivery
import Logging
import MQTT
import Synchronization
import Vitals

/// Accepts commands, lets each run once, and ensures exactly one final answer for each. An answer goes to whoever sent the same
/// command, with the same id and content, to the same device, and to nobody else (see `CommandEnvelope.key`). A caller of this process
/// gets it instead of a topic.
actor CommandLog {
    /// Maximum running commands in the whole gateway, which devices share (see `FairShares`); a further one is answered `busy`.
    static let maximumRunning = 4_096
    /// Maximum repeated commands that wait for a running one, shared in the same way; a further one is answered `busy`.
    static let maximumRepeats = 1_024
    /// Commands of the previous run that are read at once.
    static let unansweredAtOnce = 64
    /// Maximum answers kept in memory after the store failed; beyond that the oldest are forgotten.
    static let maximumUnstored = 256
    /// How long an answer that is not stored waits for room among the messages that are sent once. The queue of commands
    /// waits with it, and so does the reading of acknowledgements, without which no room comes: so the wait has a limit.
    static let roomWait: Duration = .seconds(1)

    private let store: any CommandStore
    private let retained: RetainedStates
    private let settings: DeliverySettings
    private let status: BrokerStatus
    private let encoder: ContractEncoder
    private var generator: any RandomNumberGenerator & Sendable
    /// The senders that wait for each running command: the first one, and those that repeated the command.
    private var running: [String: [Waiting]] = [:]
    /// The running commands and the waiting repeats, by whom they concern.
    private var runningShares = FairShares()
    private var repeatShares = FairShares()

    /// A sender that waits for an answer, and the answer's key in the store.
    private struct Waiting {
        let key: String
        let envelope: CommandEnvelope
    }

    /// Answers being stored, by the keys of their commands.
    private var underWay: [String: StoredAnswer] = [:]
    /// Answers that could not be stored, kept so that a repeated command does not run again, until `storeUnstored`.
    private var unstored: [StoredAnswer] = []

    /// Whether the last answer met too many that wait. One line of the log says so.
    private var isFull = false
    /// Whether the last answer that is not stored found no room in time. Until one finds room, no other one waits.
    private var hasNoRoom = false

    /// - Parameter status: counts answers that were dropped.
    init(
        store: any CommandStore, retained: RetainedStates, settings: DeliverySettings,
        status: BrokerStatus = BrokerStatus(), generator: any RandomNumberGenerator & Sendable
    ) {
        self.store = store
        self.retained = retained
        self.settings = settings
        self.status = status
        encoder = ContractEncoder(topics: settings.topics, calendar: settings.calendar)
        self.generator = generator
    }

    /// Begins a command. Returns the key of a new command, which must run; answers any other command itself.
    func begin(_ envelope: CommandEnvelope) async -> String? {
        let key = envelope.key ?? newKey(envelope)
        if await answerRepeat(envelope, key) { return nil }
        if running[key] != nil || underWay[key] != nil || unkeptAnswer(to: key) != nil {
            await send(.reused, to: envelope)
            return nil
        }
        guard runningShares.fits(1, of: envelope.scope, in: Self.maximumRunning) else {
            let message = "Too many commands are running; try again later."
            await send(Answer(.rejected, code: .busy, message: message), to: envelope)
            return nil
        }
        // Registered before the store query, so that a repeat cannot slip in meanwhile.
        running[key] = [Waiting(key: key, envelope: envelope)]
        runningShares.add(1, of: envelope.scope)
        do throws(StoreError) {
            switch try await store.begin(envelope, key: key, at: settings.clock.now) {
            case .new: return key
            case .answered(let payload): await answerUnbegun(key) { message(payload, to: $0) }
            case .running:
                // It no longer runs, and its answer was never stored and is now forgotten: run it like a new one.
                return key
            case .reused: await answerUnbegun(key) { message(.reused, to: $0) }
            case .full:
                // Not the answer to this id: the command may be sent again.
                let busy = Answer(
                    .rejected, code: .busy, message: "Too many answers wait for the broker; try again later.")
                await answerUnbegun(key) { message(busy, to: $0) }
            }
        } catch {
            await complete(
                key, Answer(.failed, code: .busy, message: "The command cannot be stored: \(error.message)"))
        }
        return nil
    }

    /// Answers the senders of a command that was not begun. Its key has another answer, or none, so the first sender gets a new one.
    private func answerUnbegun(_ key: String, _ message: (CommandEnvelope) -> OutgoingMessage) async {
        for (index, waiting) in removeSenders(key).enumerated() {
            let key = index == 0 ? newKey(waiting.envelope) : waiting.key
            await store(message(waiting.envelope), for: Waiting(key: key, envelope: waiting.envelope))
        }
    }

    /// Answers the repeat of a command that runs, or whose answer the store does not have yet. Returns whether it is one.
    private func answerRepeat(_ envelope: CommandEnvelope, _ key: String) async -> Bool {
        if let first = running[key]?.first {
            guard first.envelope.content == envelope.content else { return false }
            await join(envelope, key)
        } else if let answer = underWay[key], answer.content == envelope.content {
            await store(message(answer.payload, to: envelope), for: newSender(envelope))
        } else if let answer = unkeptAnswer(to: key), answer.content == envelope.content {
            await sendOnce(message(answer.payload, to: envelope), to: envelope)
        } else {
            return false
        }
        return true
    }

    /// Answers a running command: with `accepted`, or with the final answer.
    func complete(_ key: String, _ answer: Answer) async {
        if answer.status == .accepted {
            for waiting in running[key] ?? [] {
                let message = message(answer, to: waiting.envelope)
                if let caller = waiting.envelope.caller {
                    caller.receive(message.payload, false)
                } else {
                    retained.putOnce(.message(message))
                }
            }
            return
        }
        for waiting in removeSenders(key) { await store(message(answer, to: waiting.envelope), for: waiting) }
    }

    /// Forgets the answers of a removed device that the store did not take: who gets its id later must not have them.
    func forget(_ device: DeviceID) {
        unstored.removeAll { CommandEnvelope.scope(inKey: $0.key) == device.text }
    }

    /// Answers a message that cannot run as a command.
    ///
    /// An expired command may be the repeat of one that arrived in time; that one already has its answer. The repeat of a command that
    /// runs waits for its answer, however many others wait. Only a valid command, which has a content, can be a repeat.
    func reject(_ answer: Answer, _ envelope: CommandEnvelope) async {
        let key = answer.code == .busy && envelope.content != nil ? envelope.key : nil
        if let key, await answerRepeat(envelope, key) { return }
        guard answer.status == .expired, envelope.id != nil else {
            return await send(answer, to: envelope)
        }
        if let key = await begin(envelope) { await complete(key, answer) }
    }

    /// Answers the commands interrupted by a crash, which cannot get another answer any more.
    func answerForgotten() async {
        let answer = Answer(
            .failed, code: .timeout, message: "The gateway was restarted while the command ran; send it again.")
        do throws(StoreError) {
            var last: Int64 = 0
            while true {
                let page = try await store.unanswered(after: last, limit: Self.unansweredAtOnce)
                for command in page where running[command.key] == nil {
                    let sender = Waiting(key: command.key, envelope: command.envelope)
                    await store(message(answer, to: command.envelope), for: sender)
                }
                guard let number = page.last?.number, page.count == Self.unansweredAtOnce else { return }
                last = number
            }
        } catch {
            settings.logger.error("Commands of the previous run cannot be read.", metadata: ["error": "\(error)"])
        }
    }

    /// Stores the answers that the store did not take before, until it refuses one again. Without it, a crash later would give
    /// their commands a second, different answer. Each is sent once more, since the first sending may have met no broker.
    func storeUnstored() async {
        while let answer = unstored.first {
            do throws(StoreError) { try await store.complete(answer) } catch { return }
            unstored.removeAll { $0.key == answer.key }
        }
    }

    /// Lets the sender of a repeat wait for the answer of the running command. The repeat is stored too: a crash must
    /// not leave this sender without an answer.
    private func join(_ envelope: CommandEnvelope, _ key: String) async {
        guard repeatShares.fits(1, of: envelope.scope, in: Self.maximumRepeats) else {
            let message = "Too many senders wait for running commands; try again later."
            return await send(Answer(.rejected, code: .busy, message: message), to: envelope)
        }
        let waiting = newSender(envelope)
        running[key]?.append(waiting)
        repeatShares.add(1, of: envelope.scope)
        do throws(StoreError) {
            _ = try await store.begin(envelope, key: waiting.key, at: settings.clock.now)
        } catch {
            settings.logger.error("A repeated command cannot be stored.", metadata: ["error": "\(error)"])
        }
    }

    /// Removes and returns the waiting senders of a command, the first one first.
    private func removeSenders(_ key: String) -> [Waiting] {
        guard let waiting = running.removeValue(forKey: key) else { return [] }
        let scope = CommandEnvelope.scope(inKey: key)
        runningShares.remove(1, of: scope)
        repeatShares.remove(waiting.count - 1, of: scope)
        return waiting
    }

    private func send(_ answer: Answer, to envelope: CommandEnvelope) async {
        await store(message(answer, to: envelope), for: newSender(envelope))
    }

    private func message(_ answer: Answer, to envelope: CommandEnvelope) -> OutgoingMessage {
        let info = envelope.device.flatMap { retained.info(of: $0) }
        var encoder = encoder
        let fitted = Self.fitted(answer, about: info, by: &encoder)
        return encoder.answer(fitted, to: envelope, about: info, at: settings.clock.now)
    }

    /// An earlier answer, for a repeated command.
    private func message(_ payload: [UInt8], to envelope: CommandEnvelope) -> OutgoingMessage {
        .answer(topic: encoder.answerTopic(for: envelope), payload: payload, correlation: envelope.correlation)
    }

    /// Shortens a page of samples to a payload that small brokers accept.
    static func fitted(_ answer: Answer, about info: DeviceInfo?, by encoder: inout ContractEncoder) -> Answer {
        guard case .samples(let samples, let metric, _) = answer.data else { return answer }
        let count = encoder.samplesPerAnswer(samples, of: info)
        guard count < samples.count else { return answer }
        var answer = answer
        let next = SampleKey(samples[count - 1].sample).page
        answer.data = .samples(Array(samples.prefix(count)), metric: metric, next: next)
        return answer
    }

    private func store(_ message: OutgoingMessage, for sender: Waiting) async {
        let stored = StoredAnswer(
            key: sender.key, content: sender.envelope.content, topic: message.topic,
            correlation: message.correlationData, payload: message.payload, at: settings.clock.now)
        underWay[sender.key] = stored
        defer { underWay[sender.key] = nil }
        do throws(StoreError) {
            try await store.complete(stored)
            isFull = false
            sender.envelope.caller?.receive(stored.payload, true)
        } catch  where error.code == .answersWait {
            // Its command did not run and may be sent again, so it need not outlast this connection.
            if !isFull { settings.logger.warning("\(error.message) Commands are refused until it has taken some.") }
            isFull = true
            await sendOnce(message, to: sender.envelope)
        } catch {
            // For instance, the disk is full. An answer that a crash could lose is better than none.
            settings.logger.error("An answer cannot be stored.", metadata: ["error": "\(error)"])
            if unstored.count == Self.maximumUnstored { unstored.removeFirst() }
            unstored.append(stored)
            await sendOnce(message, to: sender.envelope)
        }
    }

    /// Sends an answer that is not stored, or counts it as dropped if there is no broker, or no room for it in time.
    private func sendOnce(_ message: OutgoingMessage, to envelope: CommandEnvelope) async {
        if let caller = envelope.caller { return caller.receive(message.payload, true) }
        let entry = RetainedStates.Entry.message(message)
        var isSent = retained.putOnce(entry)
        if !isSent, !hasNoRoom {
            // It may find room at the very end of the wait, so the outcome of the race does not show it.
            let hadRoom = Mutex(false)
            _ = await race(against: { [clock = settings.clock] in try await clock.sleep(for: Self.roomWait) }) {
                [retained] in
                let hasRoom = await retained.putOnceWithRoom(entry)
                hadRoom.withLock { $0 = hasRoom }
            }
            isSent = hadRoom.withLock { $0 }
        }
        if isSent {
            hasNoRoom = false
            return
        }
        status.dropped()
        guard !hasNoRoom, retained.isConnected else { return }
        hasNoRoom = true
        settings.logger.warning(
            "The broker takes answers too slowly. Those that are not stored are dropped and counted.")
    }

    private func unkeptAnswer(to key: String) -> StoredAnswer? {
        let now = settings.clock.now
        return unstored.last { $0.key == key && now - $0.at < StoredAnswer.memory }
    }

    /// A key that no other command has, since the key of an id has two spaces.
    private func newKey(_ envelope: CommandEnvelope) -> String {
        "\(envelope.scope) \(SampleID(random: &generator))"
    }

    private func newSender(_ envelope: CommandEnvelope) -> Waiting {
        Waiting(key: newKey(envelope), envelope: envelope)
    }
}

extension Answer {
    /// The answer to another command with the id of an earlier one.
    fileprivate static let reused = Answer(
        .rejected, code: .idReused,
        message: "The id belongs to a command with other arguments; give each command an id of its own.")
}
