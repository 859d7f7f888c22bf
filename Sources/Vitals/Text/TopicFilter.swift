/// A filter of MQTT's topics: levels between slashes, `+` for any one of them, and `#` at the end for any further ones (MQTT 5,
/// section 4.7).
package struct TopicFilter: Sendable, Hashable {
    private static let slash = UInt8(ascii: "/")
    private static let everything = Array("#".utf8)
    private static let anyLevel = Array("+".utf8)

    /// The filter as text.
    package let text: String
    private let levels: [[UInt8]]

    /// A filter of a text, which should be a valid one.
    package init(_ text: String) {
        self.text = text
        levels = text.utf8.split(separator: Self.slash, omittingEmptySubsequences: false).map(Array.init)
    }

    /// Whether it takes more than one topic.
    package var hasWildcards: Bool { levels.contains { $0 == Self.anyLevel || $0 == Self.everything } }

    /// Whether it takes the messages of a topic. A wildcard at the beginning takes none of the broker's own, which begin with `$`.
    package func matches(_ topic: String) -> Bool {
        // Asked for every message and subscription: bytes compare faster than characters.
        if topic.utf8.first == UInt8(ascii: "$"), let first = levels.first,
            first == Self.anyLevel || first == Self.everything
        {
            return false
        }
        var rest = topic.utf8[...]
        for (index, level) in levels.enumerated() {
            if level == Self.everything { return true }
            let end = rest.firstIndex(of: Self.slash)
            let name = rest[..<(end ?? rest.endIndex)]
            guard level == Self.anyLevel || name.elementsEqual(level) else { return false }
            let isLast = index == levels.count - 1
            // `a/#` takes `a`, too.
            guard let end else { return isLast || (index == levels.count - 2 && levels[index + 1] == Self.everything) }
            if isLast { return false }
            rest = rest[rest.index(after: end)...]
        }
        return false
    }

    /// Whether there are topics that both take.
    package func overlaps(_ other: TopicFilter) -> Bool {
        for (one, two) in zip(levels, other.levels) {
            if one == Self.everything || two == Self.everything { return true }
            guard one == two || one == Self.anyLevel || two == Self.anyLevel else { return false }
        }
        // `a/#` takes `a`, too.
        let further = [levels, other.levels].flatMap { $0.dropFirst(min(levels.count, other.levels.count)) }
        return further.isEmpty || further == [Self.everything]
    }

    /// Whether it takes this topic, or some topic below it.
    package func reaches(into topic: String) -> Bool {
        for (index, level) in topic.utf8.split(separator: Self.slash, omittingEmptySubsequences: false).enumerated() {
            guard index < levels.count else { return false }
            if levels[index] == Self.everything { return true }
            guard levels[index] == Self.anyLevel || levels[index].elementsEqual(level) else { return false }
        }
        return true
    }
}
