/// A part of a device's state as published. Only the newest of each part matters.
///
/// Indirect, because a table holds several per device, and most are small.
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
    case wear(WearState)
    /// Only of a device whose passkey a person types.
    case pairing(PairingState)

    /// The parts of the state.
    package enum Part: Sendable, Hashable {
        case info, availability, link, config, sync, measure, wear, pairing
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
        case .wear: .wear
        case .pairing: .pairing
        }
    }
}
