/// A filter of MQTT's topics: levels between slashes, `+` for any one of them, and `#` at the end for any further ones (MQTT 5,
/// section 4.7).
package struct TopicFilter: Sendable, Hashable {
    /// The filter as text.
    package let text: String
    private let levels: [Substring]

    /// A filter of a text, which should be a valid one.
    package init(_ text: String) {
        self.text = text
        levels = Self.levels(of: text)
    }

    /// Whether it takes more than one topic.
    package var hasWildcards: Bool { levels.contains { $0 == "+" || $0 == "#" } }

    /// Whether it takes the messages of a topic. A wildcard at the beginning takes none of the broker's own, which begin with `$`.
    package func matches(_ topic: String) -> Bool {
        if topic.utf8.first == UInt8(ascii: "$"), levels.first == "+" || levels.first == "#" { return false }
        let others = Self.levels(of: topic)
        for (index, level) in levels.enumerated() {
            // `a/#` takes `a`, too.
            if level == "#" { return true }
            guard index < others.count, level == "+" || level == others[index] else { return false }
        }
        return levels.count == others.count
    }

    /// Whether it takes this topic, or some topic below it.
    package func reaches(into topic: String) -> Bool {
        for (index, level) in Self.levels(of: topic).enumerated() {
            guard index < levels.count else { return false }
            if levels[index] == "#" { return true }
            guard levels[index] == "+" || levels[index] == level else { return false }
        }
        return true
    }

    private static func levels(of text: String) -> [Substring] {
        text.split(separator: "/", omittingEmptySubsequences: false)
    }
}
