import Vitals

/// Hourly statistics of a measured value.
///
/// Home Assistant summarises five minutes at a time, and the mean of an hour is the mean of its five-minute means. So it is
/// here: a burst of samples, such as one per second in a workout, weighs as much as the minutes that it lasts. A period
/// without samples counts nothing: no value is assumed for a time without a measurement.
package struct MeasuredHours: Sendable {
    /// The length of a period in milliseconds.
    private static let period: Int64 = 300_000

    private struct Tally {
        var sum = 0.0
        var count = 0
    }
    private struct HourTally {
        var lowest: Double
        var highest: Double
        var periods: [Int64: Tally] = [:]
        var extremes = Tally()

        /// The mean of the periods' means; of the extremes alone if there is nothing else.
        var mean: Double {
            guard !periods.isEmpty else { return extremes.sum / Double(max(extremes.count, 1)) }
            // In the order of time, so that rounding is the same each time.
            let means = periods.sorted { $0.key < $1.key }.map { $0.value.sum / Double($0.value.count) }
            return means.reduce(0, +) / Double(means.count)
        }
    }
    private var hours: [Hour: HourTally] = [:]

    package init() {}

    /// Adds an observation, in any order.
    package mutating func add(_ observation: Observation) {
        let (hour, number) = (Hour(of: observation.moment), observation.number)
        var tally = hours[hour] ?? HourTally(lowest: number, highest: number)
        tally.lowest = min(tally.lowest, number)
        tally.highest = max(tally.highest, number)
        if observation.isExtreme {
            tally.extremes.sum += number
            tally.extremes.count += 1
        } else {
            let period = (observation.moment - hour.start).inMilliseconds / Self.period
            tally.periods[period, default: Tally()].sum += number
            tally.periods[period, default: Tally()].count += 1
        }
        hours[hour] = tally
    }

    /// The hours with observations, ascending.
    package var statistics: [HourlyStatistic] {
        hours.sorted { $0.key < $1.key }.map { hour, tally in
            HourlyStatistic(
                hour: hour,
                content: .measured(mean: tally.mean, lowest: tally.lowest, highest: tally.highest))
        }
    }
}
