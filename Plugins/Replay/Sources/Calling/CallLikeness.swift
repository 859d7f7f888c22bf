import JSON

/// Whether two calls ask for the same, at different times.
enum CallLikeness {
    /// Members of the calls of Vitals Link that depend on the moment, or on the gateway (`Plugins/Link/Protocol.md`).
    private static let ignored: Set<String> = [
        "from", "from_day", "gateway", "limit", "now", "options", "through", "to", "to_day", "utc_offset_min",
    ]
    /// The depth to which values are compared; deeper ones count as different.
    private static let deepest = 16

    /// Whether two values are the same but for those members.
    static func isLike(_ one: JSONValue, _ other: JSONValue, depth: Int = 0) -> Bool {
        guard depth < deepest else { return false }
        switch (one, other) {
        case (.object(let ones), .object(let others)):
            let ones = ones.filter { !ignored.contains($0.key) }
            let others = others.filter { !ignored.contains($0.key) }
            return ones.count == others.count
                && ones.allSatisfy { member in
                    others.contains { $0.key == member.key && isLike($0.value, member.value, depth: depth + 1) }
                }
        case (.array(let ones), .array(let others)):
            return ones.count == others.count && zip(ones, others).allSatisfy { isLike($0, $1, depth: depth + 1) }
        default: return one == other
        }
    }
}
