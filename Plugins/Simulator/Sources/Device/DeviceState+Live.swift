import Vitals

extension DeviceState {
    /// The records of all metrics that end within a short period, ordered by metric.
    mutating func records(endingAfter from: Timestamp, through moment: Timestamp) -> [Sample] {
        let calendar = bodies[0].calendar
        let days = calendar.day(of: from).number...max(calendar.day(of: from), calendar.day(of: moment)).number
        // Steps have the longest records that the window limits.
        let window = from - .minutes(15)..<moment + .milliseconds(1)
        var result: [Sample] = []
        for metric in Metric.synchronised where capabilities.supports(metric) {
            for day in days {
                let profile = bodies[0].profile(of: LocalDay(number: day))
                for record in records(of: metric, on: profile, within: window)
                where from < record.end && record.end <= moment && profile.owns(record) {
                    if let sample = sample(of: metric, record) { result.append(sample) }
                }
            }
        }
        return result
    }
}

extension DailyProfile {
    /// Whether a record belongs to this day rather than a neighbouring one: by its start, or for a sleep by its end.
    fileprivate func owns(_ record: Record) -> Bool {
        if case .sleep = record.content { bounds.contains(record.end) } else { bounds.contains(record.start) }
    }
}
