import Concurrency
import Contract
import Delivery
import Logging
import MQTT
import Synchronization
import Vitals

/// Accepts commands, lets each run once, and ensures exactly one final answer for each.
actor CommandLog {
    /// Maximum running commands in the whole gateway; a further one is answered `busy`.
    static let maximumRunning = 4_096
    /// Maximum repeated commands that wait for a running one; a further one is answered `busy`.
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
    /// The number of waiting repeats.
    private var repeats = 0

    /// A sender that waits for an answer, and the answer's key in the store.
    private struct Waiting {
        let key: String
        let envelope: CommandEnvelope
    }

    /// Answers being stored, by the keys of their commands.
    private var underWay: [String: [UInt8]] = [:]
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
        let key = envelope.id.map(Self.key) ?? newKey()
        if await answerRepeat(envelope, key) { return nil }
        guard running.count < Self.maximumRunning else {
            let message = "Too many commands are running; try again later."
            await send(Answer(.rejected, code: .busy, message: message), to: envelope)
            return nil
        }
        // Registered before the store query, so that a repeat cannot slip in meanwhile.
        running[key] = [Waiting(key: key, envelope: envelope)]
        do throws(StoreError) {
            switch try await store.begin(envelope, key: key, at: settings.clock.now) {
            case .new: return key
            case .answered(let payload):
                // The first sender's key already has the answer.
                for (index, waiting) in removeSenders(key).enumerated() {
                    await store(message(payload, to: waiting.envelope), key: index == 0 ? newKey() : waiting.key)
                }
            case .running:
                // It no longer runs, and its answer was never stored and is now forgotten: run it like a new one.
                return key
            case .full:
                // Not the answer to this id: the command may be sent again.
                let busy = Answer(
                    .rejected, code: .busy, message: "Too many answers wait for the broker; try again later.")
                for (index, waiting) in removeSenders(key).enumerated() {
                    await store(message(busy, to: waiting.envelope), key: index == 0 ? newKey() : waiting.key)
                }
            }
        } catch {
            await complete(
                key, Answer(.failed, code: .busy, message: "The command cannot be stored: \(error.message)"))
        }
        return nil
    }

    /// Answers the repeat of a command that runs, or whose answer the store does not have yet. Returns whether it is one.
    private func answerRepeat(_ envelope: CommandEnvelope, _ key: String) async -> Bool {
        if running[key] != nil {
            await join(envelope, key)
        } else if let payload = underWay[key] {
            await store(message(payload, to: envelope), key: newKey())
        } else if let payload = unkeptAnswer(to: key) {
            await sendOnce(message(payload, to: envelope))
        } else {
            return false
        }
        return true
    }

    /// Answers a running command: with `accepted`, or with the final answer.
    func complete(_ key: String, _ answer: Answer) async {
        if answer.status == .accepted {
            for waiting in running[key] ?? [] {
                retained.putOnce(.message(message(answer, to: waiting.envelope)))
            }
            return
        }
        for waiting in removeSenders(key) { await store(message(answer, to: waiting.envelope), key: waiting.key) }
    }

    /// Answers a message that cannot run as a command.
    ///
    /// An expired command may be the repeat of one that arrived in time; that one already has its answer. The repeat of a command that
    /// runs waits for its answer, however many others wait.
    func reject(_ answer: Answer, _ envelope: CommandEnvelope) async {
        if answer.code == .busy, let id = envelope.id, await answerRepeat(envelope, Self.key(id)) { return }
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
                    await store(message(answer, to: command.envelope), key: command.key)
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
        guard repeats < Self.maximumRepeats else {
            let message = "Too many senders wait for running commands; try again later."
            return await send(Answer(.rejected, code: .busy, message: message), to: envelope)
        }
        let waiting = Waiting(key: newKey(), envelope: envelope)
        running[key]?.append(waiting)
        repeats += 1
        do throws(StoreError) {
            _ = try await store.begin(envelope, key: waiting.key, at: settings.clock.now)
        } catch {
            settings.logger.error("A repeated command cannot be stored.", metadata: ["error": "\(error)"])
        }
    }

    /// Removes and returns the waiting senders of a command, the first one first.
    private func removeSenders(_ key: String) -> [Waiting] {
        let waiting = running.removeValue(forKey: key) ?? []
        repeats -= max(0, waiting.count - 1)
        return waiting
    }

    private func send(_ answer: Answer, to envelope: CommandEnvelope) async {
        await store(message(answer, to: envelope), key: newKey())
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

    private func store(_ message: OutgoingMessage, key: String) async {
        let stored = StoredAnswer(
            key: key, topic: message.topic, correlation: message.correlationData, payload: message.payload,
            at: settings.clock.now)
        underWay[key] = message.payload
        defer { underWay[key] = nil }
        do throws(StoreError) {
            try await store.complete(stored)
            isFull = false
        } catch  where error.code == .answersWait {
            // Its command did not run and may be sent again, so it need not outlast this connection.
            if !isFull { settings.logger.warning("\(error.message) Commands are refused until it has taken some.") }
            isFull = true
            await sendOnce(message)
        } catch {
            // For instance, the disk is full. An answer that a crash could lose is better than none.
            settings.logger.error("An answer cannot be stored.", metadata: ["error": "\(error)"])
            if unstored.count == Self.maximumUnstored { unstored.removeFirst() }
            unstored.append(stored)
            await sendOnce(message)
        }
    }

    /// Sends an answer that is not stored, or counts it as dropped if there is no broker, or no room for it in time.
    private func sendOnce(_ message: OutgoingMessage) async {
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

    private func unkeptAnswer(to key: String) -> [UInt8]? {
        let now = settings.clock.now
        return unstored.last { $0.key == key && now - $0.at < StoredAnswer.memory }?.payload
    }

    /// The key of a command with an id.
    private static func key(_ id: String) -> String { "id:\(id)" }

    private func newKey() -> String { "key:\(SampleID(random: &generator))" }
}
