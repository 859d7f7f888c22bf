package import Vitals

/// How far a device's history has been read, and when it is read next.
package struct SyncMarks: Sendable {
    /// The start of the newest record synchronised, per metric.
    package var cursors: [Metric: Timestamp]
    /// When the next scheduled synchronisation is due, by the monotonic clock; `nil` before the first one of a session.
    package var nextAt: Duration?
    /// The last success before an absence longer than the device keeps its history; `nil` once the loss is reported.
    package var lossFrom: Timestamp?

    package init(cursors: [Metric: Timestamp] = [:]) { self.cursors = cursors }

    /// Whether a scheduled synchronisation is due. If so, sets the next one an interval later.
    package mutating func isDue(at uptime: Duration, every interval: Duration) -> Bool {
        guard let nextAt, nextAt <= uptime else { return false }
        self.nextAt = uptime + interval
        return true
    }

    /// Checks at a connection whether the device was offline for longer than it keeps its history.
    package mutating func recordAbsence(
        since lastSeen: Timestamp?, lastSuccessAt: Timestamp?, _ capabilities: Capabilities, at now: Timestamp
    ) {
        guard let lastSeen, let days = capabilities.maximumHistoryDays, lastSeen < now - .days(max(days, 1)) else {
            return
        }
        lossFrom = lossFrom ?? lastSuccessAt
    }

    /// The gap left by an absence longer than the device keeps its history; `nil` if there is none.
    package func loss(of capabilities: Capabilities, at now: Timestamp) -> Gap? {
        guard let lossFrom, let days = capabilities.maximumHistoryDays, lossFrom < now - .days(days) else {
            return nil
        }
        return Gap(metric: nil, from: lossFrom, to: now - .days(days), count: nil, reason: .device, at: now)
    }
}
