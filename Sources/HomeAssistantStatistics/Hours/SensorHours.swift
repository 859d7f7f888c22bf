package import HomeAssistant
package import Vitals

extension StatisticSensor {
    /// The observation of a sample; `nil` if it has no number for this sensor.
    package func observation(of sample: Sample) -> Observation? {
        guard let number = number(of: sample), number.isFinite else { return nil }
        let isExtreme = kind == .measurement && (sample.kind == .maximum || sample.kind == .minimum)
        return Observation(at: DailySummary.decisiveMoment(of: sample), number, isExtreme: isExtreme)
    }

    /// The hours of `range` with their statistics, from observations of at least the days of these hours.
    package func measured(
        _ observations: some Sequence<Observation>, in range: ClosedRange<Hour>, calendar: LocalCalendar
    ) -> [HourlyStatistic] {
        if kind == .dailySum { return daily(observations, in: range, calendar: calendar) }
        var hours = MeasuredHours()
        for observation in observations where range.contains(Hour(of: observation.moment)) { hours.add(observation) }
        return hours.statistics
    }

    /// The day's sum so far, from the day's first observation to its end: what the sensor shows then.
    private func daily(
        _ observations: some Sequence<Observation>, in range: ClosedRange<Hour>, calendar: LocalCalendar
    ) -> [HourlyStatistic] {
        var counted = CountedHours(from: SumAnchor(at: range.lowerBound.start), calendar: calendar)
        var firsts: [Timestamp: Hour] = [:]
        for observation in observations {
            counted.add(observation)
            let hour = Hour(of: observation.moment)
            let day = calendar.bounds(of: calendar.day(of: observation.moment)).lowerBound
            firsts[day] = min(firsts[day] ?? hour, hour)
        }
        return counted.statistics(in: range).compactMap { statistic in
            guard case .counted(let state, _, let since) = statistic.content,
                let first = firsts[since], statistic.hour >= first
            else { return nil }
            return HourlyStatistic(
                hour: statistic.hour, content: .measured(mean: state, lowest: state, highest: state))
        }
    }
}
