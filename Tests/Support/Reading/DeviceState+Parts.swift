package import Vitals

/// A state as one of its parts; `nil` if it is another one.
extension DeviceState {
    /// What is known of the device.
    package var asInfo: DeviceInfo? { if case .info(let info) = self { info } else { nil } }
    /// The connection.
    package var asLink: LinkState? { if case .link(let link) = self { link } else { nil } }
    /// The newest sample of a metric.
    package var asLatest: LatestState? { if case .latest(let latest) = self { latest } else { nil } }
    /// The running day of a metric.
    package var asToday: DayRecord? { if case .today(let record) = self { record } else { nil } }
    /// The level of an alert's rule.
    package var asLevel: AlertLevel? { if case .level(let level) = self { level } else { nil } }
    /// The configuration.
    package var asConfig: TwinState? { if case .config(let twin) = self { twin } else { nil } }
    /// The synchronisation.
    package var asSync: SyncState? { if case .sync(let sync) = self { sync } else { nil } }
    /// The measurement.
    package var asMeasure: MeasureState? { if case .measure(let measure) = self { measure } else { nil } }
    /// Whether it is worn.
    package var asWear: WearState? { if case .wear(let wear) = self { wear } else { nil } }
}
