import Concurrency
package import MQTT
import Synchronization

/// The topics whose messages are documents of devices, and not commands.
package final class DocumentTopics: Sendable {
    private let takers = Mutex<[String: @Sendable (InboundMessage) -> Void]>([:])
    private let change = Signal()

    package init() {}

    /// Hands the messages of a topic to `take`, which must not wait.
    package func add(_ topic: String, _ take: @escaping @Sendable (InboundMessage) -> Void) {
        takers.withLock { $0[topic] = take }
        change.wake()
    }

    /// Ignores the messages of a topic from now on.
    package func remove(_ topic: String) { takers.withLock { $0[topic] = nil } }

    /// Hands a message over if it is a document. Returns whether it is.
    func receive(_ message: InboundMessage) -> Bool {
        guard let handler = takers.withLock({ $0[message.topic] }) else { return false }
        handler(message)
        return true
    }

    private var topics: Set<String> { takers.withLock { Set($0.keys) } }

    /// Subscribes to all topics and to those that are added, until the task is cancelled.
    /// - Parameter refused: called with the error of a topic that the broker does not allow; the others go on.
    func subscribe(
        on connection: any BrokerConnection, refused: (_ topic: String, _ error: BrokerError) -> Void
    ) async throws {
        var known: Set<String> = []
        while !Task.isCancelled {
            for topic in topics.subtracting(known).sorted() {
                known.insert(topic)
                do throws(BrokerError) { try await connection.subscribe([Subscription(topic)]) } catch {
                    guard error.code == .subscriptionRefused else { throw error }
                    refused(topic, error)
                }
            }
            await change.wait()
        }
    }
}
