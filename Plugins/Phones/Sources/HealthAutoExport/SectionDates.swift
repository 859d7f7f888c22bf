import Vitals

/// How the entries of a metric are summed up, by what their dates have in common: the app says neither that nor when an interval ends.
struct SectionDates {
    /// Whether they are records one by one: one of them is at no full minute.
    private(set) var areSingle = false
    private var areDays = true
    private var first: Int?
    /// What divides all distances and an hour, and what divides all minutes of the day and an hour.
    private var (distance, minute) = (60, 60)

    /// Adds a time of day in milliseconds.
    mutating func add(_ time: Int) {
        let (minute, rest) = time.quotientAndRemainder(dividingBy: 60_000)
        if rest != 0 { areSingle = true }
        areDays = areDays && minute == 0
        distance = Self.commonDivisor(distance, abs(minute - (first ?? minute)))
        self.minute = Self.commonDivisor(self.minute, minute)
        first = first ?? minute
    }

    /// How long an interval may be: days if all dates are midnights, and else what divides all distances and an hour, such as five minutes.
    var longestInterval: Duration {
        if areSingle { return ExportedMetric.longestRecord }
        return areDays ? .days(1) : .minutes(distance)
    }

    /// How many minutes an entry may sum up (`Sample.summedMinutes`): what its hour can be divided into, or a day. Counts of minutes meet
    /// the records of an export by themselves.
    func minutes(of metric: Metric) -> Int16? {
        guard metric.shape == .count else { return areSingle ? 0 : Int16(minute) }
        if areSingle || first == nil { return nil }
        return areDays ? 1440 : minute > 1 ? Int16(minute) : nil
    }

    private static func commonDivisor(_ one: Int, _ other: Int) -> Int {
        other == 0 ? one : commonDivisor(other, one % other)
    }
}

extension Record {
    /// The same record, which may sum up so many minutes.
    func summed(_ minutes: Int16?) -> Record {
        guard case .sample(var sample) = self else { return self }
        sample.summedMinutes = minutes
        return .sample(sample)
    }
}
