import Delivery
import GatewayKit
import Logging
import MQTT
import Vitals

/// Messages of the broker that are documents of a device.
///
/// The broker has its acknowledgement when a message arrives, before anything is stored. So a document whose session ends too early
/// comes again here, and what cannot be taken is logged.
package struct DocumentMessages: Sendable {
    /// The most documents of a device that wait for its driver.
    static let maximumWaiting = 8
    /// How often a document is tried whose session ends before its answer.
    static let maximumTries = 5

    let topics: [String]
    let documents: DocumentQueue
    let presence: DevicePresence
    let clock: GatewayClock
    let logger: Logger
    /// Whose messages they are.
    var owner = ""
    /// What other devices may take, too.
    private(set) var shared: [MessageTopic] = []
    private var waiting = Self.maximumWaiting
    /// The most bytes of a message for a driver that counts longer ones itself, and what it takes of them; `nil` for whole documents.
    private var size: Int?

    init(
        topics: [String], documents: DocumentQueue, presence: DevicePresence, clock: GatewayClock, logger: Logger,
        owner: String = ""
    ) {
        self.topics = topics
        self.documents = documents
        self.presence = presence
        self.clock = clock
        self.logger = logger
        self.owner = owner
    }

    /// Whether the device takes no messages.
    var isEmpty: Bool { topics.isEmpty && shared.isEmpty }

    /// Also takes what a driver takes itself.
    mutating func share<Driver: MessageDriver>(_ driver: Driver) {
        shared = driver.topics
        waiting = Driver.maximumWaiting
        size = Driver.maximumSize
    }

    func begin(in all: DocumentTopics) {
        let own = topics.map { MessageTopic(subscription: TopicFilter($0), own: TopicFilter($0)) }
        for topic in own + shared {
            // What came before it was there.
            for held in all.add(topic.subscription.text, own: topic.own, for: owner, { receive($0) }) {
                receive(held.message, at: held.receivedAt)
            }
        }
    }

    func end(in all: DocumentTopics) {
        for topic in topics + shared.map(\.subscription.text) { all.remove(topic, for: owner) }
        logDropped()
    }

    /// Drops the documents that still wait, which no driver will read, and logs how many there were. Each holds the queue, and
    /// would stay in memory with it.
    func logDropped() {
        let waiting = documents.discard()
        guard waiting > 0 else { return }
        logger.error(
            "Documents were not stored before the device's settings changed or the gateway stopped; let the app send them again.",
            metadata: ["count": "\(waiting)"])
    }

    /// Takes a message of the topics, which came now or at `moment`.
    func receive(_ message: InboundMessage, at moment: Timestamp? = nil) {
        // An empty one only deletes a retained message, so it is no error that the log should have.
        guard !message.payload.isEmpty else { return }
        if let size {
            let mark = DocumentMessage(
                topic: message.topic, isStored: message.isRetained, size: message.payloadSize)
            let bytes = message.payloadSize > size ? [] : message.payload
            return add(bytes, mark, receivedAt: moment ?? clock.now, tries: 1)
        }
        guard !message.isCut else {
            documents.drop("too_long", limit: BrokerOptions.maximumInboundPacket)
            return logger.error(
                "A document is longer than a message may be and is not taken; let the app send less at a time.",
                metadata: ["bytes": "\(message.payloadSize)", "limit": "\(BrokerOptions.maximumInboundPacket)"])
        }
        add(message.payload, nil, receivedAt: moment ?? clock.now, tries: 1)
    }

    private func add(_ bytes: [UInt8], _ mark: DocumentMessage?, receivedAt: Timestamp, tries: Int) {
        let document = Document(
            bytes, mediaType: "application/json", receivedAt: receivedAt, message: mark, holding: nil
        ) { answer in
            report(answer)
            guard case .interrupted = answer else { return }
            if tries < Self.maximumTries {
                add(bytes, mark, receivedAt: receivedAt, tries: tries + 1)
            } else {
                documents.drop("not_stored", limit: Self.maximumTries)
                logger.error("A document could not be stored and is given up.", metadata: ["tries": "\(tries)"])
            }
        }
        // One that was accepted has its place, however many came since.
        let isRetry = tries > 1
        guard documents.add(document, limit: isRetry ? .max : waiting, isFirst: isRetry) else {
            documents.drop("too_many", limit: waiting)
            // Of messages that come by the second the device's log has doubling numbers.
            if size != nil { return }
            return logger.error(
                "Documents come faster than they are stored; one is not taken.",
                metadata: ["waiting": "\(waiting)"])
        }
        presence.sawDevice()
    }

    /// No sender receives the answer, so the log has the error.
    private func report(_ answer: DocumentAnswer) {
        switch answer {
        case .stored(let report): documents.reasons.log(report, to: logger)
        case .unreadable(let reason):
            logger.notice("A document cannot be read.", metadata: ["reason": "\(reason)"])
        case .interrupted(let reason):
            logger.debug("A document was not stored yet.", metadata: ["reason": "\(reason)"])
        }
    }
}
