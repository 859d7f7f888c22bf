import Vitals

/// The topics of states and repeated facts that the broker does not take, each with the least blamed size.
///
/// A broker is corrected at some time, and does not say so. Such a topic is therefore tried again after a while, and after twice the
/// time if that fails.
///
/// If long messages of two topics are not taken, their length is the likely reason: messages of any topic that are as long count as
/// refused, too. Otherwise each of a hundred announcements would cost its own cuts.
package struct RefusedTopics: Sendable {
    /// Time until a topic is tried again: a restart of a broker with other settings takes about as long.
    package static let firstWait: Duration = .minutes(5)
    /// Maximum time until a topic is tried again: each attempt costs a few connections.
    package static let maximumWait: Duration = .hours(24)
    /// Topics that are remembered; beyond that all are tried again.
    package static let maximumTopics = 256

    private struct Topic {
        var size: Int
        var wait: Duration
        var until: Duration
        var isDue = false
    }
    private var topics: [String: Topic] = [:]
    /// The place of what holds for every topic; no topic is empty.
    private static let every = ""

    package init() {}

    /// A message of this size is not taken on this topic.
    package mutating func blame(_ topic: String, size: Int, at uptime: Duration) {
        if topics.count >= Self.maximumTopics { topics = [:] }
        let known = topics[topic]
        let wait = known.map { min($0.wait * 2, Self.maximumWait) } ?? Self.firstWait
        topics[topic] = Topic(size: min(size, known?.size ?? .max), wait: wait, until: uptime + wait)
        guard topic != Self.every, size > PublishMachine.smallestLimit else { return }
        let others = topics.filter {
            $0.key != topic && $0.key != Self.every && $0.value.size > PublishMachine.smallestLimit
        }
        guard let shortest = others.values.map(\.size).min() else { return }
        blame(Self.every, size: min(size, shortest), at: uptime)
    }

    /// The broker took a message of this size on this topic.
    package mutating func taken(_ topic: String, size: Int) {
        guard !topics.isEmpty else { return }
        for place in [topic, Self.every] {
            guard let known = topics[place], size >= known.size else { continue }
            topics[place] = nil
        }
    }

    /// Whether a message of this size is not sent on this topic now.
    package func contains(_ topic: String, size: Int, at uptime: Duration) -> Bool {
        guard !topics.isEmpty else { return false }
        return [topic, Self.every].contains { place in
            topics[place].map { size >= $0.size && uptime < $0.until } ?? false
        }
    }

    /// Whether a topic is to be tried again now. Says so once for each time.
    package mutating func takeDue(at uptime: Duration) -> Bool {
        var isDue = false
        for (name, topic) in topics where !topic.isDue && topic.until <= uptime {
            topics[name]?.isDue = true
            isDue = true
        }
        return isDue
    }
}
