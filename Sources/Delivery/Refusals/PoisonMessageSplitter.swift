import DequeModule
package import Vitals

/// Finds the message at which a broker cuts the connection, which would otherwise be sent again and again and stop all others.
/// The same goes for a message that the broker never answers: the gateway then ends the connection, which counts as a cut.
///
/// A broker handles messages in order, so the first one without an acknowledgement is the suspect. After a few cuts at
/// the same one, messages go one at a time: then the message in flight at a cut is certain. After a few cuts more it is
/// blamed, and the caller gives it up. Any acknowledgement clears a message.
///
/// A reset connection swallows acknowledgements, another number each time, and new facts come between the states that each connection
/// begins with. So the first one is not the same at each cut; some cuts, each soon after the one before, count alike.
package struct PoisonMessageSplitter: Sendable {
    /// Cuts with the same message first in flight, after which messages go one at a time.
    package static let suspectCuts = 3
    /// Cuts in a row, each soon after the one before, after which messages go one at a time whichever was the first.
    package static let restlessCuts = 5
    /// The longest time between two cuts in a row: longer than `answerLimit` and the longest wait for a connection together.
    package static let restlessPeriod: Duration = .minutes(3)
    /// Cuts with the same message alone in flight, after which it is blamed.
    package static let aloneCuts = 3
    /// Cuts alone for a message whose topic was blamed before, that is as long as a blamed one, or whose topic was chosen by the
    /// sender of a command.
    package static let doubtfulCuts = 2
    /// Cuts alone before a message is blamed while the broker has taken nothing since the last blame. A network that cuts
    /// every connection would otherwise quarantine one message after the other; a broker that takes none of its next
    /// messages is still found out.
    package static let unheardCuts = 30
    /// Time after which a message without the broker's answer ends the connection. A busy broker answers within seconds.
    package static let answerLimit: Duration = .seconds(90)
    /// Messages that go one at a time at least: twice the window, as a cut may also swallow acknowledgements. It is twice those
    /// of the longest connection that was cut, if that is more, since the culprit may be the last of a thousand states.
    package static let carefulMessages = 256
    /// Topics that are remembered as blamed; beyond that the oldest is forgotten.
    package static let maximumTopics = 64

    /// A message on its way, by what identifies it over several connections.
    package struct Item: Sendable, Hashable {
        package enum Kind: Sendable, Hashable {
            /// A fact or an answer; of a fact in several messages, one of these.
            case entry(Lane, Int64, part: Int)
            /// A state, or a fact that is sent again: it has no place in a lane.
            case other
        }
        package var kind: Kind
        package var topic: String
        /// The packet's size in bytes.
        package var size: Int
        /// The samples in it; 1 for anything else.
        package var samples: Int
        /// Whether the sender of a command chose the topic.
        package var isChosen: Bool

        package init(_ kind: Kind, topic: String, size: Int, samples: Int = 1, isChosen: Bool = false) {
            self.kind = kind
            self.topic = topic
            self.size = size
            self.samples = samples
            self.isChosen = isChosen
        }
    }

    private var flying: Deque<(token: Int64, item: Item, sentAt: Duration)> = []
    /// Whether the broker has taken a message since the last one was given up.
    private var hasTaken = true
    /// The message first in flight at the last cuts, and their number.
    private var suspect: (item: Item, cuts: Int)?
    /// The message alone in flight at the last cuts, and their number.
    private var convict: (item: Item, cuts: Int)?
    /// Messages that still go one at a time.
    private var careful = 0
    private var blamedTopics: Deque<String> = []
    /// The size of the smallest message that was blamed, and that the broker has taken none of since.
    private var blamedSize: Int?
    /// The last cut; the number of cuts in a row up to it; the most messages on one of their connections.
    private var cuts: (last: Duration, count: Int, messages: Int)?
    /// Messages on this connection.
    private var messages = 0

    package init() {}

    /// Whether messages go one at a time.
    package var isCareful: Bool { careful > 0 }

    /// Whether a message of this topic was blamed, and none was taken since.
    package func isBlamed(_ topic: String) -> Bool { !blamedTopics.isEmpty && blamedTopics.contains(topic) }

    /// A message was handed over.
    package mutating func sent(_ token: Int64, _ item: Item, at uptime: Duration = .zero) {
        flying.append((token, item, uptime))
        messages += 1
    }

    /// The topic of a message in flight.
    func topic(of token: Int64) -> String? { flying.first { $0.token == token }?.item.topic }

    /// Whether the oldest message in flight waits too long for the broker's answer.
    package func isOverdue(at uptime: Duration) -> Bool {
        flying.first.map { uptime - $0.sentAt > Self.answerLimit } ?? false
    }

    /// The broker has answered a message. Returns it; `nil` if it is not in flight.
    @discardableResult
    package mutating func settled(_ token: Int64, isTaken: Bool = true) -> Item? {
        guard let position = flying.firstIndex(where: { $0.token == token }) else { return nil }
        let item = flying.remove(at: position).item
        if suspect?.item.isSame(as: item) == true { suspect = nil }
        if isTaken, convict?.item.isSame(as: item) == true { convict = nil }
        if isTaken, !blamedTopics.isEmpty { blamedTopics.removeAll { $0 == item.topic } }
        if isTaken, let size = blamedSize, item.size >= size { blamedSize = nil }
        if isTaken { hasTaken = true }
        if careful > 0 { careful -= 1 }
        return item
    }

    /// The connection was closed without a fault of the broker.
    package mutating func closed() {
        flying = []
        messages = 0
    }

    /// The broker or the network cut the connection. Returns the message to be given up, if one is blamed now.
    package mutating func cut(at uptime: Duration = .zero) -> Item? {
        defer { closed() }
        guard let first = flying.first?.item else { return nil }
        let row = cuts.flatMap { uptime - $0.last <= Self.restlessPeriod ? $0 : nil }
        let count = (row?.count ?? 0) + 1
        let longest = max(row?.messages ?? 0, messages)
        cuts = (uptime, count, longest)
        let isAlone = isCareful && flying.count == 1
        if !isAlone {
            suspect = (first, suspect?.item.isSame(as: first) == true ? (suspect?.cuts ?? 0) + 1 : 1)
            let isSuspect = (suspect?.cuts ?? 0) >= (isDoubtful(first) ? 1 : Self.suspectCuts)
            guard isSuspect || count >= Self.restlessCuts else { return nil }
            suspect = nil
        }
        careful = max(Self.carefulMessages, 2 * longest)
        return isAlone ? failed(first) : nil
    }

    /// A message certainly failed once more. Returns it if it is blamed now, after so many tries or the usual number.
    package mutating func failed(_ item: Item, tries: Int? = nil) -> Item? {
        convict = (item, convict?.item.isSame(as: item) == true ? (convict?.cuts ?? 0) + 1 : 1)
        let usual = isDoubtful(item) ? Self.doubtfulCuts : Self.aloneCuts
        let needed = max(tries ?? usual, hasTaken || item.isChosen ? 0 : Self.unheardCuts)
        guard (convict?.cuts ?? 0) >= needed else { return nil }
        convict = nil
        blamedSize = min(item.size, blamedSize ?? .max)
        if !isBlamed(item.topic) {
            if blamedTopics.count == Self.maximumTopics { blamedTopics.removeFirst() }
            blamedTopics.append(item.topic)
        }
        return item
    }

    /// The caller has given a blamed message up: before the next one, the broker is to take something.
    package mutating func gaveUp() { hasTaken = false }

    private func isDoubtful(_ item: Item) -> Bool {
        item.isChosen || isBlamed(item.topic) || blamedSize.map { item.size >= $0 } ?? false
    }
}

extension PoisonMessageSplitter.Item {
    /// Whether both are the same message, perhaps encoded at different times.
    fileprivate func isSame(as other: Self) -> Bool { kind == other.kind && topic == other.topic }
}
