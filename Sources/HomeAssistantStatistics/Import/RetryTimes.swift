import Vitals

/// A sensor of a device whose statistics are pending.
struct SensorName: Hashable, Comparable {
    var device: DeviceID
    var metric: Metric
    /// Empty for all sensors of the metric.
    var sensor: String

    init(_ entry: PendingStatistics) { (device, metric, sensor) = (entry.device, entry.metric, entry.sensor) }

    static func < (a: Self, b: Self) -> Bool {
        (a.device.text, a.metric.rawValue, a.sensor) < (b.device.text, b.metric.rawValue, b.sensor)
    }
}

/// When each sensor is due to be tried: an attempt that could not end waits twice as long as the one before it, and the sensor with
/// the oldest attempt comes first.
struct RetryTimes {
    private struct Attempt {
        var at: Duration
        /// `nil` if it ended well.
        var wait: Duration?
        var wasJoining = false
    }
    private var attempts: [SensorName: Attempt] = [:]
    private var pendingSince: [SensorName: Timestamp] = [:]

    /// Forgets the sensors that are no longer pending.
    mutating func note(_ pending: [PendingStatistics], at now: Timestamp) {
        let names = Set(pending.map(SensorName.init))
        attempts = attempts.filter { names.contains($0.key) }
        pendingSince = pendingSince.filter { names.contains($0.key) }
        for name in names where pendingSince[name] == nil { pendingSince[name] = now }
    }

    /// Whether the samples have come: none came for a while, or they never cease.
    func isComplete(_ entry: PendingStatistics, at now: Timestamp) -> Bool {
        let isQuiet = now - entry.changedAt >= StatisticsSettings.quiet || now < entry.changedAt
        return isQuiet || pendingSince[SensorName(entry)].map { now - $0 >= StatisticsSettings.timeout } ?? false
    }

    /// Those whose hours are old enough and that need not wait, in their order.
    func ready(_ pending: [PendingStatistics], through last: Hour, at uptime: Duration) -> [PendingStatistics] {
        let ready = pending.filter { entry in
            guard entry.isJoining || entry.hours.lowerBound <= last else { return false }
            guard let attempt = attempts[SensorName(entry)], let wait = attempt.wait else { return true }
            // Hours that came after it have not been tried.
            if attempt.wasJoining, !entry.isJoining { return true }
            return uptime - attempt.at >= wait
        }
        // The sort is not stable, so that equal ones need an order, too.
        return ready.sorted {
            let (a, b) = (SensorName($0), SensorName($1))
            return (attempts[a]?.at ?? .zero, a) < (attempts[b]?.at ?? .zero, b)
        }
    }

    /// How long the last attempt had to wait; `nil` if it ended well, or there was none.
    func wait(of entry: PendingStatistics) -> Duration? { attempts[SensorName(entry)]?.wait }

    /// Notes that an attempt ended well.
    mutating func succeeded(_ entry: PendingStatistics, at uptime: Duration) {
        attempts[SensorName(entry)] = Attempt(at: uptime)
    }

    /// Notes that an attempt has to be repeated.
    mutating func mustWait(_ entry: PendingStatistics, first: Duration, isJoining: Bool = false, at uptime: Duration) {
        let name = SensorName(entry)
        let before = attempts[name]
        let wait = before?.wasJoining == isJoining ? before?.wait : nil
        attempts[name] = Attempt(
            at: uptime, wait: min(wait.map { $0 * 2 } ?? first, StatisticsSettings.rarest), wasJoining: isJoining)
    }
}
