package import Vitals

/// The content of a fact; `nil` if it has another one.
extension Fact {
    /// Samples of a metric.
    package var asMeasurement: Measurement? { if case .measurement(let samples) = content { samples } else { nil } }
    /// A past day.
    package var asDay: DayRecord? { if case .day(let record) = content { record } else { nil } }
    /// The edge of an alert, also a late one.
    package var asAlert: AlertEvent? { if case .alert(let event, _) = content { event } else { nil } }
    /// What is known to be lost.
    package var asGap: Gap? { if case .gap(let gap) = content { gap } else { nil } }
}
