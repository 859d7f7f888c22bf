import Contract
import Engines
import GatewayKit
import Logging
import MQTT
import Store
import Vitals

/// Takes commands in, lets each run once, and sees to it that each gets exactly one final answer.
actor CommandDesk {
    /// Commands that may be under way in the whole gateway; one more is answered `busy`.
    static let maximumRunning = 4_096
    /// Senders who may wait for commands that run already; one more is answered `busy`.
    static let maximumRepeats = 1_024
    /// Answers that the store did not take and that are remembered all the same; of more the oldest are forgotten.
    static let maximumUnkept = 256

    private let store: any GatewayStore
    private let outbox: Outbox
    private let board: StateBoard
    private let wire: WireEncoder
    private let settings: CoreSettings
    private var generator: any RandomNumberGenerator & Sendable
    /// Who waits for the answer of each command that runs: its sender, and whoever sent the same one again meanwhile.
    private var running: [String: [Waiting]] = [:]
    /// How many of them sent a command again.
    private var repeats = 0

    /// A sender who waits for an answer, and the key under which that is kept.
    private struct Waiting {
        let key: String
        let envelope: CommandEnvelope
    }

    /// Answers that are being written down, by the keys of their commands.
    private var underWay: [String: [UInt8]] = [:]
    /// Answers that the store did not take, so that their commands do not run again when they are sent again.
    private var unkept: [(key: String, payload: [UInt8], at: Timestamp)] = []

    init(
        store: any GatewayStore, outbox: Outbox, board: StateBoard, wire: WireEncoder, settings: CoreSettings,
        generator: any RandomNumberGenerator & Sendable
    ) {
        self.store = store
        self.outbox = outbox
        self.board = board
        self.wire = wire
        self.settings = settings
        self.generator = generator
    }

    /// Begins a command. Returns its key where it is new and is to be run; otherwise its answer is seen to.
    func begin(_ envelope: CommandEnvelope) async -> String? {
        let key = envelope.id.map { "id:\($0)" } ?? newKey()
        if running[key] != nil {
            await join(envelope, key)
            return nil
        }
        if let payload = underWay[key] {
            // The store may not know yet that it is answered.
            await keep(wire.answer(payload, to: envelope), key: newKey())
            return nil
        }
        if let payload = unkeptAnswer(to: key) {
            board.putOnce(.message(wire.answer(payload, to: envelope)))
            return nil
        }
        guard running.count < Self.maximumRunning else {
            let message = "Too many commands are running; try again later."
            await send(Answer(.rejected, code: .busy, message: message), to: envelope)
            return nil
        }
        // Taken before the store is asked, so that the same command cannot slip in meanwhile.
        running[key] = [Waiting(key: key, envelope: envelope)]
        do throws(StoreError) {
            switch try await store.begin(envelope, key: key, at: settings.clock.now) {
            case .new: return key
            case .answered(let payload):
                // The first one's key has the answer already.
                for (index, waiting) in leave(key).enumerated() {
                    await keep(wire.answer(payload, to: waiting.envelope), key: index == 0 ? newKey() : waiting.key)
                }
            case .running:
                // Nobody runs it any more: its answer was never kept, and is forgotten here. It runs as a new one does.
                return key
            }
        } catch {
            await finish(
                key, Answer(.failed, code: .busy, message: "The command cannot be kept: \(error.message)"))
        }
        return nil
    }

    /// Answers a command that runs: with `accepted`, or for good.
    func finish(_ key: String, _ answer: Answer) async {
        if answer.status == .accepted {
            for waiting in running[key] ?? [] {
                board.putOnce(.message(message(answer, to: waiting.envelope)))
            }
            return
        }
        for waiting in leave(key) { await keep(message(answer, to: waiting.envelope), key: waiting.key) }
    }

    /// Answers a message that is no command that can be run.
    ///
    /// One that expired may have come in time before, and been sent again since: it has its answer already.
    func reject(_ answer: Answer, _ envelope: CommandEnvelope) async {
        guard answer.status == .expired, envelope.id != nil else {
            return await send(answer, to: envelope)
        }
        if let key = await begin(envelope) { await finish(key, answer) }
    }

    /// Answers the commands that were begun before a crash and can have no other answer any more.
    func answerForgotten() async {
        do throws(StoreError) {
            for (key, envelope) in try await store.unanswered() where running[key] == nil {
                let message = "The gateway was restarted while the command ran; send it again."
                await keep(self.message(Answer(.failed, code: .timeout, message: message), to: envelope), key: key)
            }
        } catch {
            settings.logger.error("Commands of before cannot be read.", metadata: ["error": "\(error)"])
        }
    }

    /// Lets whoever sent a command again wait for the answer of the one that runs. That too is kept: a crash must not leave
    /// this sender without an answer.
    private func join(_ envelope: CommandEnvelope, _ key: String) async {
        guard repeats < Self.maximumRepeats else {
            let message = "Too many wait for commands that are running; try again later."
            return await send(Answer(.rejected, code: .busy, message: message), to: envelope)
        }
        let waiting = Waiting(key: newKey(), envelope: envelope)
        running[key]?.append(waiting)
        repeats += 1
        do throws(StoreError) {
            _ = try await store.begin(envelope, key: waiting.key, at: settings.clock.now)
        } catch {
            settings.logger.error("A repeated command cannot be kept.", metadata: ["error": "\(error)"])
        }
    }

    /// Takes those who wait for a command away, its first sender first.
    private func leave(_ key: String) -> [Waiting] {
        let waiting = running.removeValue(forKey: key) ?? []
        repeats -= max(0, waiting.count - 1)
        return waiting
    }

    private func send(_ answer: Answer, to envelope: CommandEnvelope) async {
        await keep(message(answer, to: envelope), key: newKey())
    }

    private func message(_ answer: Answer, to envelope: CommandEnvelope) -> OutgoingMessage {
        let info = envelope.device.flatMap { board.info(of: $0) }
        return wire.answer(answer, to: envelope, about: info, at: settings.clock.now)
    }

    private func keep(_ message: OutgoingMessage, key: String) async {
        let stored = StoredAnswer(
            key: key, topic: message.topic, correlation: message.correlation, payload: message.payload,
            at: settings.clock.now)
        underWay[key] = message.payload
        defer { underWay[key] = nil }
        do throws(StoreError) {
            try await store.finish(stored)
            outbox.committedAnswer()
        } catch {
            // The disk is full, say: an answer that a crash could lose is better than none.
            settings.logger.error("An answer cannot be kept.", metadata: ["error": "\(error)"])
            if unkept.count == Self.maximumUnkept { unkept.removeFirst() }
            unkept.append((key, message.payload, stored.at))
            board.putOnce(.message(message))
        }
    }

    private func unkeptAnswer(to key: String) -> [UInt8]? {
        let now = settings.clock.now
        return unkept.last { $0.key == key && now - $0.at < StoreOptions().answerAge }?.payload
    }

    private func newKey() -> String { "key:\(SampleID(random: &generator))" }
}
