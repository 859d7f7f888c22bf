/// Checks that `latest` of each device and metric only moves forward.
///
/// With a wrong clock, the gateway cannot know which values lie in the future, and may choose an older one. Its choice is
/// published at the next connection, when the clock may be right again. So a value may go back if the clock was wrong at any time
/// since the newer one.
struct LatestOrder {
    /// When the machine's clock was set, and whether it was right from then on.
    let clockSettings: [(at: Duration, isRight: Bool)]
    private var last: [String: (measuredAt: String, uptime: Duration)] = [:]

    init(clockSettings: [(at: Duration, isRight: Bool)]) { self.clockSettings = clockSettings }

    /// Reads a message.
    ///
    /// - Parameters:
    ///   - key: the device and the metric.
    ///   - measuredAt: `measured_at` of the message.
    ///   - uptime: when the gateway published the message.
    /// - Returns: the time of the newer value that was published before, where that is an error; otherwise `nil`.
    mutating func goesBack(_ key: String, to measuredAt: String, at uptime: Duration) -> String? {
        let before = last[key]
        guard before?.measuredAt != measuredAt else { return nil }
        last[key] = (measuredAt, uptime)
        guard let before, measuredAt < before.measuredAt, isClockRight(from: before.uptime, to: uptime) else {
            return nil
        }
        return before.measuredAt
    }

    private func isClockRight(from begin: Duration, to end: Duration) -> Bool {
        (clockSettings.last { $0.at <= begin }?.isRight ?? true)
            && clockSettings.allSatisfy { $0.isRight || $0.at <= begin || $0.at > end }
    }

    /// Forgets all values: the gateway has lost its store.
    mutating func forget() { last = [:] }
}
