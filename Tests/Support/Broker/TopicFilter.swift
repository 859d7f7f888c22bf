/// An MQTT topic filter (section 4.7): `+` matches one level, a final `#` matches its parent and everything below.
package struct TopicFilter: Sendable, Hashable {
    private static let slash = UInt8(ascii: "/")
    private static let everything = Array("#".utf8)
    private static let anyLevel = Array("+".utf8)
    private let levels: [[UInt8]]

    /// A filter from its text.
    package init(_ text: String) {
        levels = text.utf8.split(separator: Self.slash, omittingEmptySubsequences: false).map(Array.init)
    }

    /// Whether the filter matches `topic`. A wildcard at the beginning does not match topics that begin with `$`.
    package func matches(_ topic: String) -> Bool {
        // Simulations ask this for every message and subscription: bytes compare faster than characters.
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
            guard let end else { return isLast || (index == levels.count - 2 && levels[index + 1] == Self.everything) }
            if isLast { return false }
            rest = rest[rest.index(after: end)...]
        }
        return false
    }
}
