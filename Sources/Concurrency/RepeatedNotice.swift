/// Decides which of many like events are said: the first, and then one at distances that double, with how many there were. So a
/// fault that lasts for days does not fill the log.
///
/// Make a new one when the fault is over: the next event is said at once then.
package struct RepeatedNotice: Sendable, Hashable {
    /// From the first notice to the second: a person who reads the log has seen the first by then.
    package static let firstDistance: Duration = .seconds(60)
    /// The longest distance: what lasts for weeks is said once a day.
    package static let longestDistance: Duration = .seconds(24 * 60 * 60)
    /// The most different reasons of one fault, each of which is said at once the first time. A broker that is away has three or four.
    package static let maximumReasons = 8

    /// The events so far.
    package private(set) var count = 0
    private var reasons: [String] = []
    private var distance = firstDistance
    private var dueAt: Duration?

    package init() {}

    /// Counts an event. Returns whether it is to be said.
    /// - Parameters:
    ///   - reason: why it happened. Another one than before does not wait.
    ///   - uptime: the monotonic time.
    package mutating func isDue(_ reason: String = "", at uptime: Duration) -> Bool {
        count += 1
        let isNew = !reasons.contains(reason) && reasons.count < Self.maximumReasons
        if isNew { reasons.append(reason) }
        let isOver = dueAt.map { uptime >= $0 } ?? true
        guard isNew || isOver else { return false }
        // A further reason does not push the others away.
        if count > 1, isOver { distance = min(distance * 2, Self.longestDistance) }
        dueAt = uptime + distance
        return true
    }
}
