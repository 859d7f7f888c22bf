import HomeAssistant
import Vitals

extension SeriesImport {
    /// Imports the pending hours of a measurement, each for itself.
    func measure(_ entry: PendingStatistics, through last: Hour) async throws -> Outcome {
        var outcome = Outcome(hasImported: false)
        let end = min(entry.hours.upperBound, last)
        var first = entry.hours.lowerBound
        while first <= end {
            let through = min(first.advanced(by: StatisticsSettings.batch - 1), end)
            let statistics = try await statistics(of: entry.device, in: first...through)
            if try await storeAll(statistics.map { $0.converted(conversion) }, in: first...through) {
                outcome.hasImported = true
            }
            first = through.advanced(by: 1)
            let rest = first <= entry.hours.upperBound ? first...entry.hours.upperBound : nil
            guard try await setPending(rest, of: entry) else { break }
        }
        return outcome
    }

    private func statistics(of device: DeviceID, in hours: ClosedRange<Hour>) async throws -> [HourlyStatistic] {
        if sensor.kind == .dailySum {
            let start = CountedHours.beginning(of: hours.lowerBound, calendar: settings.calendar)
            var observations: [Observation] = []
            // A night begins before its day.
            try await read(device, from: start - SampleLimits.duration, to: hours.upperBound.end) {
                if $0.moment >= start { observations.append($0) }
            }
            return sensor.measured(observations, in: hours, calendar: settings.calendar)
        }
        var measured = MeasuredHours()
        try await read(device, from: hours.lowerBound.start, to: hours.upperBound.end) { measured.add($0) }
        return measured.statistics
    }
}
