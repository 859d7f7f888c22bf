import Vitals

extension DeviceState {
    /// The smallest step of a schedule.
    private static let slot = Duration.minutes(5)
    /// The length of a record of steps. Midnight is a multiple of it in every time zone in use.
    private static let bucket = Duration.minutes(15)

    /// The records of a metric around one day, ascending by start: at least all that begin within `window`, and the
    /// nights of the day that only end in it.
    mutating func records(of metric: Metric, on profile: DailyProfile, within window: Range<Timestamp>) -> [Record] {
        let span = window.clamped(to: profile.bounds)
        if metric.restOf != nil { return [Record(at: profile.night.end, .rest)] }
        switch metric.shape {
        case .count: return steps(on: profile, within: span)
        case .sleep:
            return [profile.night, profile.nap, profile.nextNight].compactMap(\.self).map {
                Record(from: $0.start, to: $0.end, .sleep($0))
            }
        case .session:
            return profile.activities.filter(\.isWorkout).map { Record(from: $0.start, to: $0.end, .workout($0)) }
        case .value, .pressure: break
        }
        switch model {
        case .cuff, .scale: return measurements(on: profile)
        case .oximeter: return minutes(within: span)
        case .band, .ring, .glucose: return slots(of: metric, on: profile, within: span)
        }
    }

    /// The records taken by the schedule.
    private func slots(of metric: Metric, on profile: DailyProfile, within span: Range<Timestamp>) -> [Record] {
        guard let log = schedules[metric] else { return [] }
        let step = Self.slot.inMilliseconds
        let base = profile.bounds.lowerBound.milliseconds
        let first = base - (base - span.lowerBound.milliseconds).floored(by: step) * step
        return stride(from: first, to: span.upperBound.milliseconds, by: Int(step)).compactMap { milliseconds in
            let moment = Timestamp(milliseconds: milliseconds)
            guard let schedule = log.schedule(at: moment), schedule.includes(profile.minuteOfDay(moment)) else {
                return nil
            }
            return Record(at: moment)
        }
    }

    /// The records of steps, one per quarter of an hour.
    private func steps(on profile: DailyProfile, within span: Range<Timestamp>) -> [Record] {
        let step = Self.bucket.inMilliseconds
        let first = span.lowerBound.milliseconds.floored(by: step) * step
        return stride(from: first, to: span.upperBound.milliseconds, by: Int(step)).map {
            let start = Timestamp(milliseconds: $0)
            return Record(from: start, to: start + Self.bucket, .steps)
        }
    }

    /// One candidate per whole minute; those with the clip on become records.
    private func minutes(within span: Range<Timestamp>) -> [Record] {
        let first = -(-span.lowerBound.milliseconds).floored(by: 60_000) * 60_000
        return stride(from: first, to: span.upperBound.milliseconds, by: 60_000).map {
            Record(at: Timestamp(milliseconds: $0))
        }
    }

    /// When the users take their blood pressure or weigh themselves: after getting up, and with a cuff before going to bed,
    /// too, on most days.
    private mutating func measurements(on profile: DailyProfile) -> [Record] {
        var result: [Record] = []
        for (place, user) in model.users.enumerated() {
            let own = bodies[place].profile(of: profile.day)
            let key = Int64(profile.day.number) * 4 + Int64(place)
            for start in model == .cuff ? pressures(of: own, key) : weighings(of: own, key) {
                result.append(Record(from: start, to: start + model.measurementTime, .measurement(user: user)))
            }
        }
        result.sort { $0.start < $1.start }
        // A device serves one person at a time.
        for place in result.indices.dropFirst() where result[place].start < result[place - 1].end + .minutes(1) {
            result[place].start = result[place - 1].start + .minutes(2)
            result[place].end = result[place].start + model.measurementTime
        }
        return result
    }

    /// Starts twenty seconds past a minute, so that the result comes on a whole minute.
    private func pressures(of own: DailyProfile, _ key: Int64) -> [Timestamp] {
        let noise = wearing.noise
        var result: [Timestamp] = []
        if noise.happens(.cuffMorning, key, probability: 0.85) {
            result.append(own.night.end + .minutes(noise.integer(.cuffTime, key, in: 8...25)) + .seconds(20))
        }
        if noise.happens(.cuffEvening, key, probability: 0.6) {
            result.append(own.evening(noise.integer(.cuffTime, ~key, in: 1195...1270)) + .seconds(20))
        }
        return result
    }

    private func weighings(of own: DailyProfile, _ key: Int64) -> [Timestamp] {
        let noise = wearing.noise
        guard noise.happens(.weighing, key, probability: 0.8) else { return [] }
        return [own.night.end + .minutes(noise.integer(.weighingTime, key, in: 2...7))]
    }

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

/// A record of a device before its value is computed: its time and its content.
struct Record: Sendable {
    /// The source of the value.
    enum Content: Sendable {
        /// A body value at that moment, from the device's schedule or while a clip is on.
        case moment
        /// The steps of a quarter of an hour.
        case steps
        /// A night or a nap.
        case sleep(Night)
        /// The resting heart rate found in a night.
        case rest
        /// A workout.
        case workout(Activity)
        /// A value taken by the person in a user slot: a blood pressure or a weight.
        case measurement(user: Int)
        /// A stored value that was measured on demand.
        case measured(Sample)
    }
    /// The start of the sample.
    var start: Timestamp
    /// The end of the sample, when the record appears.
    var end: Timestamp
    /// The source of its value.
    var content: Content

    /// A record of a moment.
    init(at moment: Timestamp, _ content: Content = .moment) { self.init(from: moment, to: moment, content) }

    /// A record of an interval.
    init(from start: Timestamp, to end: Timestamp, _ content: Content) {
        self.start = start
        self.end = end
        self.content = content
    }
}
