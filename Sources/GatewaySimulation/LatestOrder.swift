/// Checks that `latest` of each device and metric only moves forward.
///
/// With a wrong clock, the gateway cannot know which values lie in the future, and may choose an older one. Its choice is
/// published at the next connection, when the clock may be right again. So only a value that was first published with a right
/// clock must stay the newest.
struct LatestOrder {
    private var last: [String: (measuredAt: String, isCertain: Bool)] = [:]

    /// Reads a message.
    ///
    /// - Parameters:
    ///   - key: the device and the metric.
    ///   - measuredAt: `measured_at` of the message.
    ///   - isClockRight: whether the gateway's clock was right when it published the message.
    /// - Returns: the time of the newer value that was published before, where that is a mistake; otherwise `nil`.
    mutating func goesBack(_ key: String, to measuredAt: String, isClockRight: Bool) -> String? {
        let before = last[key]
        if before?.measuredAt != measuredAt { last[key] = (measuredAt, isClockRight) }
        guard let before, isClockRight, before.isCertain, measuredAt < before.measuredAt else { return nil }
        return before.measuredAt
    }
}
