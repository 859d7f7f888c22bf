import GatewayKit
import Vitals

extension DeviceState {
    /// The device's own summaries of local days, from the samples of its history. Days without samples are skipped.
    mutating func summaries(
        of metric: Metric, days: ClosedRange<LocalDay>, device: DeviceID, at moment: Timestamp
    ) throws(DeviceError) -> [DailySummary] {
        guard capabilities.supports(.summary, metric) else {
            throw .unsupported("daily summaries of \(metric.rawValue)")
        }
        let calendar = bodies[0].calendar
        let oldest = oldest(at: moment)
        // The first day of the history is incomplete, so it has no summary.
        var day = max(days.lowerBound, calendar.day(of: oldest).advanced(by: 1))
        let last = min(days.upperBound, calendar.day(of: moment))
        var result: [DailySummary] = []
        while day <= last {
            let bounds = calendar.bounds(of: day)
            // A sleep belongs to the day on which it ends, and begins at most a day earlier.
            let from = metric == .sleep ? bounds.lowerBound - .days(1) : bounds.lowerBound
            let samples = samples(of: metric, from: max(from, oldest), to: bounds.upperBound, at: moment).filter {
                !isCorrupt($0) && bounds.contains(DailySummary.decisiveMoment(of: $0))
            }
            if !samples.isEmpty {
                let stored = samples.map {
                    StoredSample(
                        sample: $0, of: device, revision: $0.revision ?? 1,
                        receivedAt: moment)
                }
                result.append(DailySummary(metric: metric, day: day, samples: stored).withoutWorkouts)
            }
            day = day.advanced(by: 1)
        }
        return result
    }
}

extension DailySummary {
    /// The totals without the workouts themselves: a device lists those only in its records.
    fileprivate var withoutWorkouts: DailySummary {
        guard case .sport(var totals) = details else { return self }
        totals.workouts = []
        var summary = self
        summary.details = .sport(totals)
        return summary
    }
}
