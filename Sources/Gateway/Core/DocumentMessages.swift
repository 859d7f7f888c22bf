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

    func begin(in all: DocumentTopics) {
        for topic in topics { all.add(topic) { receive($0) } }
    }

    func end(in all: DocumentTopics) {
        for topic in topics { all.remove(topic) }
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

    /// Takes a message of the topics.
    func receive(_ message: InboundMessage) {
        // An empty one only deletes a retained message, so it is no error that the log should have.
        guard !message.payload.isEmpty else { return }
        guard !message.isCut else {
            documents.drop("too_long", limit: BrokerOptions.maximumInboundPacket)
            return logger.error(
                "A document is longer than a message may be and is not taken; let the app send less at a time.",
                metadata: ["bytes": "\(message.payloadSize)", "limit": "\(BrokerOptions.maximumInboundPacket)"])
        }
        add(message.payload, receivedAt: clock.now, tries: 1)
    }

    private func add(_ bytes: [UInt8], receivedAt: Timestamp, tries: Int) {
        let document = Document(bytes, mediaType: "application/json", receivedAt: receivedAt, holding: nil) { answer in
            report(answer)
            guard case .interrupted = answer else { return }
            if tries < Self.maximumTries {
                add(bytes, receivedAt: receivedAt, tries: tries + 1)
            } else {
                documents.drop("not_stored", limit: Self.maximumTries)
                logger.error("A document could not be stored and is given up.", metadata: ["tries": "\(tries)"])
            }
        }
        // One that was accepted has its place, however many came since.
        let isRetry = tries > 1
        guard documents.add(document, limit: isRetry ? .max : Self.maximumWaiting, isFirst: isRetry) else {
            documents.drop("too_many", limit: Self.maximumWaiting)
            return logger.error(
                "Documents come faster than they are stored; one is not taken.",
                metadata: ["waiting": "\(Self.maximumWaiting)"])
        }
        presence.sawDevice()
    }

    /// No sender receives the answer, so the log has the error.
    private func report(_ answer: DocumentAnswer) {
        switch answer {
        case .stored(let report):
            log("Samples of a document were refused.", .notice, report.refused)
            let taken = report.new + report.corrected + report.known + report.superseded
            if taken == 0, report.refused.isEmpty {
                log("Nothing of a document was taken.", .notice, report.skipped)
            } else {
                // Every export may have records of kinds that the gateway does not know.
                log("Records of a document were skipped.", .debug, report.skipped)
            }
        case .unreadable(let reason):
            logger.notice("A document cannot be read.", metadata: ["reason": "\(reason)"])
        case .interrupted(let reason):
            logger.debug("A document was not stored yet.", metadata: ["reason": "\(reason)"])
        }
    }

    /// Logs how many records there were for which reasons; nothing without any.
    private func log(_ message: Logger.Message, _ level: Logger.Level, _ reasons: [String: Int]) {
        guard !reasons.isEmpty else { return }
        logger.log(
            level: level, message,
            metadata: [
                "count": "\(reasons.values.reduce(0, +))",
                "reasons": "\(reasons.keys.sorted().joined(separator: "; "))",
            ])
    }
}
