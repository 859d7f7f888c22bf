package import Vitals

/// The statistics of one hour of one sensor, as Home Assistant keeps them.
package struct HourlyStatistic: Sendable, Hashable {
    package enum Content: Sendable, Hashable {
        case measured(mean: Double, lowest: Double, highest: Double)
        /// The day's count at the end of the hour, the sum of the whole series, and when the day began.
        case counted(state: Double, sum: Double, since: Timestamp)
    }
    package var hour: Hour
    package var content: Content

    package init(hour: Hour, content: Content) {
        self.hour = hour
        self.content = content
    }
}

/// A number of a sample, at the moment that decides its hour and day.
package struct Observation: Sendable, Hashable {
    package var moment: Timestamp
    package var number: Double
    /// Whether it repeats another sample as the extreme of a period: then it counts in no mean.
    package var isExtreme: Bool

    package init(at moment: Timestamp, _ number: Double, isExtreme: Bool = false) {
        self.moment = moment
        self.number = number
        self.isExtreme = isExtreme
    }
}
