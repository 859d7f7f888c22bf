package import Concurrency
package import MQTT
import Synchronization
package import Vitals

/// The topics whose messages are documents of devices, and not commands.
///
/// Their subscriptions share the one connection of all devices. A broker may close it at a topic that its policy forbids, or leave the
/// subscription without an answer. After a few such connections that topic is skipped, and is tried again after a while.
package final class DocumentTopics: Sendable {
    /// Connections that ended, one after the other, while the broker had not answered the subscription to the same topic.
    package static let maximumCuts = 3

    /// The most topics of devices that nobody takes and that are named in the log: as many as a house has.
    package static let maximumNamed = 100

    /// The most bytes of messages that are kept until their devices are made: sixteen of the longest that drivers of values take, or
    /// thousands of usual ones.
    package static let maximumHeld = 1 << 20
    /// The most of them of a topic, the newest: what a scale sends of a weighing.
    package static let maximumHeldOfTopic = 8
    /// What a kept message costs beside its bytes.
    private static let costOfHeld = 256

    /// A message that no device takes yet.
    package struct Held: Sendable {
        /// Its number among all that were kept.
        package let number: Int
        package let message: InboundMessage
        package let receivedAt: Timestamp

        fileprivate var cost: Int { message.size + DocumentTopics.costOfHeld }
    }

    private struct Taker: Sendable {
        let owner: String
        /// What of the subscription is for it.
        let own: TopicFilter
        /// `nil` if what no other one takes is kept.
        let take: (@Sendable (InboundMessage) -> Void)?
    }
    private struct State {
        /// By subscription. Without takers its messages are ignored: the subscription lasts as long as the connection.
        var takers: [TopicFilter: [Taker]] = [:]
        /// The subscriptions to more than one topic.
        var wildcards: Set<TopicFilter> = []
        /// The topics that nobody takes.
        var named: Set<String> = []
        /// The messages whose devices are not there yet, in their order.
        var held: [Held] = []
        var heldCount = 0
        /// The topic whose subscription the broker has not answered.
        var unanswered: String?
        /// The topic that was unanswered at the last cuts, and their number.
        var suspect: (topic: String, cuts: Int)?
        /// The topics that are skipped; a subscription has no size.
        var skipped = RefusedTopics()

        /// Keeps a message. Returns whether there was room.
        mutating func hold(_ message: InboundMessage, _ now: Timestamp) -> Bool {
            // An empty one only deletes a retained message.
            guard !message.payload.isEmpty, !message.isCut else { return false }
            let next = Held(number: heldCount, message: message, receivedAt: now)
            let same = held.indices.filter { held[$0].message.topic.utf8.elementsEqual(message.topic.utf8) }
            // The others of a topic need not fit with the oldest.
            let oldest = same.count >= DocumentTopics.maximumHeldOfTopic ? same[0] : nil
            let cost = held.reduce(next.cost) { $0 + $1.cost } - (oldest.map { held[$0].cost } ?? 0)
            guard cost <= DocumentTopics.maximumHeld else { return false }
            if let oldest { held.remove(at: oldest) }
            held.append(next)
            heldCount += 1
            return true
        }

        /// The kept messages of a filter, in their order, which are forgotten.
        mutating func release(_ filter: TopicFilter) -> [Held] {
            defer { held.removeAll { filter.matches($0.message.topic) } }
            return held.filter { filter.matches($0.message.topic) }
        }
    }
    private let state = Mutex(State())
    private let change = Signal()
    /// Wakes whoever makes devices: a message is kept.
    package let hasHeld = Signal()

    package init() {}

    /// Hands the messages of a subscription to `take`, which must not wait.
    /// - Parameters:
    ///   - own: those that are handed over; all when left out.
    ///   - owner: who takes them: of a message that several of its subscriptions bring it gets one.
    /// - Returns: what came before and was kept for it.
    @discardableResult
    package func add(
        _ subscription: String, own: TopicFilter? = nil, for owner: String = "",
        _ take: @escaping @Sendable (InboundMessage) -> Void
    ) -> [Held] {
        add(subscription, Taker(owner: owner, own: own ?? TopicFilter(subscription), take: take))
    }

    /// Keeps the messages of a subscription that no device takes, until one is added that does or they are discarded.
    package func hold(_ subscription: String, for owner: String) {
        _ = add(subscription, Taker(owner: owner, own: TopicFilter(subscription), take: nil))
    }

    private func add(_ subscription: String, _ taker: Taker) -> [Held] {
        let filter = TopicFilter(subscription)
        let released = state.withLock { state -> [Held] in
            state.takers[filter, default: []].removeAll { $0.owner == taker.owner && $0.own == taker.own }
            state.takers[filter, default: []].append(taker)
            if filter.hasWildcards { state.wildcards.insert(filter) }
            return taker.take == nil ? [] : state.release(taker.own)
        }
        change.wake()
        return released
    }

    /// The messages that are kept, in their order.
    package var held: [Held] { state.withLock { $0.held } }

    /// Forgets kept messages, by their numbers.
    package func discard(_ numbers: Set<Int>) { state.withLock { $0.held.removeAll { numbers.contains($0.number) } } }

    /// Ignores the messages of a subscription of this owner from now on.
    package func remove(_ subscription: String, for owner: String = "") {
        state.withLock { state in state.takers[TopicFilter(subscription)]?.removeAll { $0.owner == owner } }
    }

    /// What became of a message.
    enum Reception: Sendable, Hashable {
        /// It is no document.
        case none
        /// Those that want it have it.
        case taken
        /// It is kept until its device is made.
        case held
        /// It is of a topic beside those that devices take, for the first time.
        case unknown(isLast: Bool)
    }

    /// Hands a message over if it is a document.
    func receive(_ message: InboundMessage, at now: Timestamp) -> Reception {
        let (takers, reception) = state.withLock { state -> ([Taker], Reception) in
            let topic = message.topic
            let exact = TopicFilter(topic)
            let subscriptions = [exact] + state.wildcards.filter { $0 != exact && $0.matches(topic) }
            let found = subscriptions.compactMap { state.takers[$0] }
            guard !found.isEmpty else { return ([], .none) }
            let takers = found.joined()
            let matching = takers.filter { $0.own.matches(topic) }
            let own = matching.filter { $0.take != nil }
            if own.isEmpty, !matching.isEmpty { return ([], state.hold(message, now) ? .held : .taken) }
            guard own.isEmpty, !takers.isEmpty, state.named.count < Self.maximumNamed,
                state.named.insert(topic).inserted
            else { return (own, .taken) }
            return ([], .unknown(isLast: state.named.count == Self.maximumNamed))
        }
        var owners: Set<String> = []
        for taker in takers where owners.insert(taker.owner).inserted { taker.take?(message) }
        if reception == .held { hasHeld.wake() }
        return reception
    }

    /// Subscribes to all topics and to those that are added, until the task is cancelled.
    /// - Parameters:
    ///   - first: one more topic or filter, whose messages come elsewhere. It is the first, and `begun` gets whether they come.
    ///   - uptime: says the time of this moment.
    ///   - refused: called with the error of a topic that the broker does not allow; the others go on.
    func subscribe(
        on connection: any BrokerConnection, first: String, begun: (Bool) -> Void, uptime: () -> Duration,
        refused: (_ topic: String, _ error: BrokerError) -> Void
    ) async throws {
        let now = uptime()
        let isSkipped = state.withLock { $0.skipped.contains(first, size: 0, at: now) }
        let refusal: BrokerError? = try await isSkipped ? nil : subscribe(to: first, on: connection)
        if let refusal { refused(first, refusal) }
        begun(!isSkipped && refusal == nil)
        var known: Set<TopicFilter> = []
        while !Task.isCancelled {
            for filter in next(besides: known, at: uptime()) {
                known.insert(filter)
                if let error = try await subscribe(to: filter.text, on: connection) { refused(filter.text, error) }
            }
            await change.wait()
        }
    }

    /// Returns the error of a broker that does not allow the topic.
    private func subscribe(
        to topic: String, on connection: any BrokerConnection
    ) async throws(BrokerError) -> BrokerError? {
        state.withLock { $0.unanswered = topic }
        var refusal: BrokerError?
        do throws(BrokerError) { try await connection.subscribe([Subscription(topic)]) } catch {
            guard error.code == .subscriptionRefused else { throw error }
            refusal = error
        }
        answered(topic)
        return refusal
    }

    private func next(besides known: Set<TopicFilter>, at uptime: Duration) -> [TopicFilter] {
        state.withLock { state in
            state.takers.filter { filter, takers in
                !takers.isEmpty && !known.contains(filter) && !state.skipped.contains(filter.text, size: 0, at: uptime)
            }.keys.sorted { $0.text < $1.text }
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
