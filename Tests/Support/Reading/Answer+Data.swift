package import Vitals

/// The data of an answer; `nil` if it has none, or another kind.
extension Answer {
    /// The result of a synchronisation.
    package var asSync: SyncState? { if case .sync(let sync) = data { sync } else { nil } }
    /// Days without their samples.
    package var asDays: [DayRecord]? { if case .days(let days) = data { days } else { nil } }
    /// Days with their samples.
    package var asItemisedDays: [ItemisedDay]? { if case .itemisedDays(let days) = data { days } else { nil } }
    /// The newest sample of a measurement.
    package var asMeasurement: StoredSample? { if case .measurement(let newest) = data { newest } else { nil } }
    /// Who has seen an alert first.
    package var asAcknowledgement: Acknowledgement? { if case .acknowledged(let first) = data { first } else { nil } }
    /// The monitoring of some metrics, as read from the device.
    package var asSettings: (found: MonitorSettings, read: [Metric])? {
        if case .settings(let found, let read) = data { (found: found, read: read) } else { nil }
    }
}
