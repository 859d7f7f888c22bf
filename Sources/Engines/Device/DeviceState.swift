package import Vitals

/// A part of a device's state, as consumers see it. Only the newest of each part matters.
///
/// Indirect, since a table holds some of them for every device, and most are small.
package indirect enum DeviceState: Sendable, Hashable {
    case info(DeviceInfo)
    case availability(isOnline: Bool)
    case link(LinkState)
    case latest(LatestState)
    /// The running local day of a metric.
    case today(DayRecord)
    case level(AlertLevel)
    case config(TwinState)
    case sync(SyncState)
    case measure(MeasureState)

    /// Which part of the state it is.
    package enum Part: Sendable, Hashable {
        case info, availability, link, config, sync, measure
        case latest(Metric)
        case today(Metric)
        case level(AlertRule)
    }

    package var part: Part {
        switch self {
        case .info: .info
        case .availability: .availability
        case .link: .link
        case .latest(let state): .latest(state.stored.sample.metric)
        case .today(let record): .today(record.summary.metric)
        case .level(let level): .level(level.rule)
        case .config: .config
        case .sync: .sync
        case .measure: .measure
        }
    }
}

/// Where a device's engines say what consumers should know.
package struct DeviceOutput: Sendable {
    /// A part of the state changed. Returns at once.
    package var state: @Sendable (DeviceID, DeviceState) -> Void
    /// A command is answered: with `accepted`, or for good.
    package var answer: @Sendable (_ key: String, Answer) async -> Void

    package init(
        state: @escaping @Sendable (DeviceID, DeviceState) -> Void,
        answer: @escaping @Sendable (_ key: String, Answer) async -> Void
    ) {
        self.state = state
        self.answer = answer
    }
}

/// How a device's engines decide.
package struct DevicePolicy: Sendable {
    package var sync: SyncPolicy
    package var alerts: AlertPolicy
    /// How long a value of a metric is fresh; a metric that is not named is fresh without end.
    package var freshness: [Metric: Duration]
    /// A device that was not heard for so long is offline.
    package var offlineAfter: Duration
    package var calendar: LocalCalendar

    package init(
        sync: SyncPolicy = SyncPolicy(), alerts: AlertPolicy = AlertPolicy(),
        freshness: [Metric: Duration] = Dictionary(
            uniqueKeysWithValues: Metric.allCases.compactMap { metric in metric.defaultFreshness.map { (metric, $0) } }),
        offlineAfter: Duration = .hours(24), calendar: LocalCalendar
    ) {
        self.sync = sync
        self.alerts = alerts
        self.freshness = freshness
        self.offlineAfter = offlineAfter
        self.calendar = calendar
    }
}
