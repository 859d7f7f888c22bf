/// An MQTT topic filter (section 4.7): `+` matches one level, a final `#` matches its parent and everything below.
package struct TopicFilter: Sendable, Hashable {
    private let levels: [Substring]

    /// A filter from its text.
    package init(_ text: String) { levels = text.split(separator: "/", omittingEmptySubsequences: false) }

    /// Whether the filter matches `topic`. A wildcard at the beginning does not match topics that begin with `$`.
    package func matches(_ topic: String) -> Bool {
        let names = topic.split(separator: "/", omittingEmptySubsequences: false)
        if topic.hasPrefix("$"), let first = levels.first, first == "+" || first == "#" { return false }
        for (index, level) in levels.enumerated() {
            if level == "#" { return true }
            guard index < names.count else { return false }
            guard level == "+" || level == names[index] else { return false }
        }
        return levels.count == names.count
    }
}
