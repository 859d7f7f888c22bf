import Concurrency
import Contract
import Logging
package import MQTT
import Synchronization
package import Vitals

/// Keeps the gateway connected to the broker: reconnects for ever with doubling waits, and loses nothing meanwhile.
package struct BrokerLoop: Sendable {
    private let broker: any Broker
    private let publisher: Publisher
    private let watermarks: Watermarks
    private let outcomes: PublishOutcomes
    private let documents: DocumentTopics
    private let own: OwnTopics
    private let inbox: @Sendable (InboundMessage) async -> Void
    private let room: @Sendable () async -> Void
    private let connected: @Sendable () async -> Void
    private var status: BrokerStatus { publisher.status }

    /// A loop for a broker.
    /// - Parameters:
    ///   - documents: the topics whose messages have their own handlers.
    ///   - own: takes what comes back of the gateway's own topics.
    ///   - inbox: takes every other received message, one after the other. It waits while it has no room, unless the task is
    ///     cancelled: the broker has an acknowledgement for each of them and will not send it again.
    ///   - room: waits until there is room for the messages of a further connection.
    ///   - connected: runs for each new connection, before anything is published.
    package init(
        broker: any Broker, store: any OutboxStore, outbox: Outbox, retained: RetainedStates, codec: ContractCodec,
        status: BrokerStatus, settings: DeliverySettings, documents: DocumentTopics = DocumentTopics(),
        own: OwnTopics? = nil, inbox: @escaping @Sendable (InboundMessage) async -> Void,
        room: @escaping @Sendable () async -> Void,
        connected: @escaping @Sendable () async -> Void
    ) {
        self.broker = broker
        self.documents = documents
        self.own = own ?? OwnTopics(settings.topics)
        watermarks = Watermarks(outbox: outbox, store: store, settings: settings)
        let inFlight = InFlightPublishes()
        outcomes = PublishOutcomes(
            inFlight: inFlight, outbox: outbox, watermarks: watermarks,
            quarantine: QuarantineWriter(
                outbox: outbox, watermarks: watermarks, inFlight: inFlight, store: store, settings: settings,
                turns: status.quarantine),
            status: status, settings: settings)
        publisher = Publisher(
            outbox: outbox, retained: retained, status: status, store: store, codec: codec, outcomes: outcomes,
            settings: settings)
        self.inbox = inbox
        self.room = room
        self.connected = connected
    }

    /// Minimum duration of a stable connection, after which the waits start again at the shortest.
    private static let stableAfter: Duration = .seconds(30)
    /// Waits at first. A restarted broker returns within minutes; frequent attempts then deliver the outbox without
    /// further delay.
    private static let shortWaits = BackOff(first: .milliseconds(250), longest: .milliseconds(1500))
    /// Waits for a broker that is offline for longer, to spare it needless attempts.
    private static let longWaits = BackOff(first: .seconds(2), longest: .seconds(30))
    private static let longOffline: Duration = .minutes(5)
    /// The time that one step of the loop may take: an attempt and each subscription take ten seconds, and the commands of a
    /// connection that has ended wait for the store.
    package static let stepLimit: Duration = .seconds(60)

    /// Runs until the task is cancelled.
    package func run(generator: any RandomNumberGenerator & Sendable) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await outcomes.quarantine.run() }
            await connect(generator: generator)
            group.cancelAll()
        }
    }

    private func connect(generator: any RandomNumberGenerator & Sendable) async {
        var generator = generator
        var backOff = Self.shortWaits
        var lostAt: Duration?
        let settings = publisher.settings
        while !Task.isCancelled {
            let began = settings.clock.uptime
            nextStep()
            do {
                try await connectOnce()
            } catch is CancellationError {
                break
            } catch let error as BrokerError where error.code == .cancelled {
                break
            } catch {
                ended(error)
                let uptime = settings.clock.uptime
                let isCut = status.snapshot.isConnected && (error as? BrokerError)?.code == .broken
                let hasLasted = status.snapshot.isConnected && uptime - began > Self.stableAfter
                let (failures, isDue) = status.failed("\(error)", at: uptime, hasLasted: hasLasted)
                settings.logger.log(
                    level: isDue ? .warning : .debug, "The broker is not connected.",
                    metadata: ["error": "\(error)", "failures": "\(failures)"])
                if isCut, let cuts = status.cut(at: uptime) {
                    settings.logger.warning(
                        "The broker ended the connection \(cuts) times within a minute. If another client has the same id, set gateway.id or mqtt.client_id.",
                        metadata: ["error": "\(error)", "gateway.id": "\(settings.topics.gateway)"])
                }
            }
            publisher.outbox.disconnect()
            publisher.retained.disconnect()
            // A liveness check that asked while the connection ended is answered here: no other turn comes.
            status.sending.end()
            let now = settings.clock.uptime
            if now - began > Self.stableAfter {
                backOff = Self.shortWaits
                lostAt = now
            } else if now - (lostAt ?? began) > Self.longOffline, backOff.longest == Self.shortWaits.longest {
                backOff = Self.longWaits
            }
            lostAt = lostAt ?? began
            nextStep()
            await room()
            let wait = backOff.next(using: &generator)
            nextStep(after: wait)
            do { try await settings.clock.sleep(for: wait) } catch { break }
        }
        status.attempts.step(nextBy: nil)
        // Also when the loop was cancelled: the status must not show a connection.
        publisher.outbox.disconnect()
        publisher.retained.disconnect()
        await watermarks.storeAll()
    }

    /// Has the next step of the loop expected within its limit.
    private func nextStep(after wait: Duration = .zero) {
        status.attempts.step(nextBy: publisher.settings.clock.uptime + wait + Self.stepLimit)
    }

    /// Connects, serves the connection until it ends, and takes what arrived before the end.
    private func connectOnce() async throws {
        let held = Mutex<(any BrokerConnection)?>(nil)
        let outcome: Result<Void, any Error>
        do {
            try await broker.withConnection { connection in
                held.withLock { $0 = connection }
                try await serve(connection)
            }
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        if let connection = held.withLock({ $0 }) { await takeRest(of: connection) }
        try outcome.get()
    }

    /// Looks for the message at which the broker cut the connection, or which it did not answer.
    private func ended(_ error: any Error) {
        let uptime = publisher.settings.clock.uptime
        let code = (error as? BrokerError)?.code
        if let end = documents.ended(isCut: code == .broken || code == .timedOut, at: uptime) {
            // The other messages in flight are not to blame.
            outcomes.inFlight.with { $0.closed() }
            guard case .skipped(let topic) = end else { return }
            publisher.settings.logger.error(
                "The broker cuts the connection at the subscription to \(name(of: topic)), or never answers it; its messages do not arrive.",
                metadata: [
                    "topic": "\(topic)", "again_in_minutes": "\(RefusedTopics.firstWait.components.seconds / 60)",
                ])
            return
        }
        let blamed = outcomes.inFlight.with { machine in
            switch code {
            case .broken: return machine.cut(at: uptime)
            case .timedOut: return machine.timedOut(at: uptime)
            default:
                machine.closed()
                return nil
            }
        }
        guard let blamed else { return }
        publisher.settings.logger.error(
            "The broker cuts the connection at a message, or never answers it; the message is not sent any more.",
            metadata: ["topic": "\(blamed.topic)", "bytes": "\(blamed.size)"])
        guard blamed.isChosen, outcomes.inFlight.with({ $0.areChosenClosed(at: uptime) }) else { return }
        publisher.settings.logger.error(
            "The broker does not take answers to several chosen topics; no chosen topic gets one for a while.",
            metadata: ["minutes": "\(PublishMachine.chosenPause.components.seconds / 60)"])
    }

    /// What a topic beside those of commands is, for the log.
    private func name(of topic: String) -> String {
        topic == own.filter ? "the gateway's own topics" : "a device's topic"
    }

    private func serve(_ connection: any BrokerConnection) async throws {
        let settings = publisher.settings
        let topics = settings.topics
        nextStep()
        own.connect()
        let isWell = status.isWell
        try connection.publish(
            publisher.codec.status(isOnline: isWell), as: MessageToken(rawValue: DeliveryMark.state(0).token))
        let isCareful = outcomes.inFlight.with { machine in
            machine.connected(limit: connection.maximumPacketSize)
            return machine.poison.isCareful
        }
        publisher.outbox.connect(window: isCareful ? 1 : connection.window)
        publisher.outbox.sentState()
        publisher.retained.connect(connection.version)
        // The echo of what is published comes only after its subscription.
        let hasOwnTopics = Promise<Void>()
        // What changed in between was not sent.
        if status.isWell != isWell { publisher.retained.put(.message(publisher.codec.status(isOnline: !isWell))) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer {
                nextStep()
                group.cancelAll()
            }
            // Commands may follow the first subscription at once.
            group.addTask { try await receive(from: connection) }
            group.addTask { await watermarks.run() }
            group.addTask { try await awaitAnswers() }
            group.addTask {
                try await connection.subscribe(publisher.codec.subscriptions)
                try await hasOwnTopics.wait()
                let isDue = status.connected(connection.version)
                status.attempts.step(nextBy: nil)
                settings.logger.log(
                    level: isDue ? .info : .debug, "The broker is connected.",
                    metadata: ["topics": "\(topics.base)", "mqtt.version": "\(connection.version.rawValue)"])
                await connected()
                try await publisher.run(on: connection)
            }
            group.addTask {
                try await documents.subscribe(
                    on: connection, first: own.filter,
                    begun: { isSubscribed in
                        own.subscribed(
                            expectsEcho: isSubscribed && connection.version == .v311, at: settings.clock.uptime)
                        hasOwnTopics.fulfil(())
                    }, uptime: { settings.clock.uptime }
                ) { topic, error in
                    settings.logger.log(
                        level: topic == own.filter ? .warning : .error,
                        "The broker does not allow \(name(of: topic)); its messages do not arrive.",
                        metadata: ["topic": "\(topic)", "error": "\(error)"])
                }
            }
            try await group.next()
        }
    }

    /// Time between two checks of the oldest message that waits for the broker's answer.
    private static let answerCheckInterval: Duration = .seconds(10)

    /// Returns with an error when the broker leaves a message without an answer for too long. Such a broker may well answer
    /// pings, so that nothing else would notice.
    private func awaitAnswers() async throws {
        let clock = publisher.settings.clock
        while true {
            try await clock.sleep(for: Self.answerCheckInterval)
            let now = clock.uptime
            documents.retry(at: now)
            missEcho(at: now)
            guard !outcomes.inFlight.with({ $0.isHoldOver(at: now) }) else {
                throw BrokerError(.notAuthorized, "The broker refused what the gateway published; connecting again.")
            }
            guard outcomes.inFlight.with({ $0.poison.isOverdue(at: now) }) else { continue }
            throw BrokerError(
                .timedOut,
                "The broker has not answered a message for \(PoisonMessageSplitter.answerLimit); connecting again.")
        }
    }

    /// Says that the broker does not give back what the gateway published.
    private func missEcho(at uptime: Duration) {
        guard let missed = own.takeMissed(at: uptime) else {
            // A corrected access list takes effect on an open connection, too.
            if own.isEchoMissing { publisher.retained.repeatInfo() }
            return
        }
        let text =
            "The broker drops what the gateway publishes, or does not let it read that. Let its user write all topics of the gateway, "
            + "and read each info, in the broker's access list."
        status.noted(text)
        publisher.settings.logger.log(
            level: missed.isDue ? .error : .debug, "\(text)",
            metadata: [
                "write": "\(publisher.settings.topics.root)/#", "read": "\(own.filter)", "times": "\(missed.count)",
            ])
    }

    private func receive(from connection: any BrokerConnection) async throws {
        defer { status.receiving.end() }
        while true {
            status.receiving.end()
            let events = try await connection.nextEvents()
            status.receiving.begin()
            let ending = settle(events, window: connection.window)
            await handle(events)
            if let ending { throw ending }
        }
    }

    /// Takes what arrived before the end of a connection, and was not read.
    private func takeRest(of connection: any BrokerConnection) async {
        let events = connection.takeEvents()
        // The connection has ended anyway.
        _ = settle(events, window: connection.window)
        await handle(events)
    }

    /// Handles the broker's answers. Returns why the connection must end.
    private func settle(_ events: BrokerEvents, window: Int) -> BrokerError? {
        do throws(BrokerError) {
            try outcomes.taken(events.acknowledged.map { DeliveryMark(token: $0.rawValue) }, window: window)
            // Only the first of those that end the connection counts as one more try: the others come again.
            for refused in events.refused {
                try outcomes.refused(
                    DeliveryMark(token: refused.token.rawValue), refused.reason, window: window)
            }
        } catch { return error }
        return nil
    }

    /// Hands the received messages over, all of them, even in a cancelled task: the broker will not send them again.
    private func handle(_ events: BrokerEvents) async {
        if events.droppedCount > 0 {
            publisher.settings.logger.warning(
                "Commands arrived faster than the gateway could take them; some were dropped.",
                metadata: ["count": "\(events.droppedCount)"])
            status.dropped(events.droppedCount)
        }
        for message in events.received {
            if own.receive(message) {
                status.receiving.turn()
                continue
            }
            switch documents.receive(message, at: publisher.settings.clock.now) {
            case .none: await inbox(message)
            case .taken, .held: break
            case .unknown(let isLast):
                publisher.settings.logger.notice(
                    "A topic is like those of a device, but no device takes it; give it an entry if its values are wanted.",
                    metadata: ["topic": "\(message.topic)", "further_are_named": "\(!isLast)"])
            }
            status.receiving.turn()
        }
    }
}
