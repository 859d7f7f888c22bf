import Concurrency
package import MQTT
import Synchronization

/// The topics whose messages are documents of devices, and not commands.
///
/// Their subscriptions share the one connection of all devices. A broker may close it at a topic that its policy forbids, or leave the
/// subscription without an answer. After a few such connections that topic is skipped, and is tried again after a while.
package final class DocumentTopics: Sendable {
    /// Connections that ended, one after the other, while the broker had not answered the subscription to the same topic.
    package static let maximumCuts = 3

    private struct State {
        var takers: [String: @Sendable (InboundMessage) -> Void] = [:]
        /// The topic whose subscription the broker has not answered.
        var unanswered: String?
        /// The topic that was unanswered at the last cuts, and their number.
        var suspect: (topic: String, cuts: Int)?
        /// The topics that are skipped; a subscription has no size.
        var skipped = RefusedTopics()
    }
    private let state = Mutex(State())
    private let change = Signal()

    package init() {}

    /// Hands the messages of a topic to `take`, which must not wait.
    package func add(_ topic: String, _ take: @escaping @Sendable (InboundMessage) -> Void) {
        state.withLock { $0.takers[topic] = take }
        change.wake()
    }

    /// Ignores the messages of a topic from now on.
    package func remove(_ topic: String) { state.withLock { $0.takers[topic] = nil } }

    /// Hands a message over if it is a document. Returns whether it is.
    func receive(_ message: InboundMessage) -> Bool {
        guard let handler = state.withLock({ $0.takers[message.topic] }) else { return false }
        handler(message)
        return true
    }

    /// Subscribes to all topics and to those that are added, until the task is cancelled.
    /// - Parameters:
    ///   - uptime: says the time of this moment.
    ///   - refused: called with the error of a topic that the broker does not allow; the others go on.
    func subscribe(
        on connection: any BrokerConnection, uptime: () -> Duration,
        refused: (_ topic: String, _ error: BrokerError) -> Void
    ) async throws {
        var known: Set<String> = []
        while !Task.isCancelled {
            for topic in next(besides: known, at: uptime()) {
                known.insert(topic)
                state.withLock { $0.unanswered = topic }
                do throws(BrokerError) { try await connection.subscribe([Subscription(topic)]) } catch {
                    guard error.code == .subscriptionRefused else { throw error }
                    refused(topic, error)
                }
                answered(topic)
            }
            await change.wait()
        }
    }

    private func next(besides known: Set<String>, at uptime: Duration) -> [String] {
        state.withLock { state in
            state.takers.keys.filter { !known.contains($0) && !state.skipped.contains($0, size: 0, at: uptime) }
                .sorted()
        }
    }

    private func answered(_ topic: String) {
        state.withLock { state in
            state.unanswered = nil
            if state.suspect?.topic == topic { state.suspect = nil }
            state.skipped.taken(topic, size: 0)
        }
    }

    /// How a connection ended on which the broker had not answered a subscription.
    enum End: Sendable, Hashable {
        /// It may have been the subscription.
        case suspected
        /// It was so again and again: the topic is skipped from now on.
        case skipped(String)
    }

    /// The connection has ended. Returns `nil` if no subscription was without an answer.
    /// - Parameter isCut: whether the broker or the network cut it, or an answer did not come.
    func ended(isCut: Bool, at uptime: Duration) -> End? {
        state.withLock { state in
            guard let topic = state.unanswered.take(), isCut else { return nil }
            let cuts = (state.suspect?.topic == topic ? state.suspect?.cuts ?? 0 : 0) + 1
            state.suspect = (topic, cuts)
            guard cuts >= Self.maximumCuts else { return .suspected }
            state.suspect = nil
            state.skipped.blame(topic, size: 0, at: uptime)
            return .skipped(topic)
        }
    }

    /// Has the topics tried again that were skipped for long enough.
    func retry(at uptime: Duration) {
        if state.withLock({ $0.skipped.takeDue(at: uptime) }) { change.wake() }
    }
}
