/// Computes a day's summary from samples in any order, without keeping them.
///
/// Each sample may be added only once: if one is corrected or comes again, the day needs a new accumulator. Adding
/// costs the same however many samples there are, except for resting items, which are kept in order.
public struct DailyAccumulator: Sendable, Hashable {
    /// The metric.
    public let metric: Metric
    /// The local day.
    public let day: LocalDay

    private var manualCount = 0
    private var automaticCount = 0
    private var tally: Tally

    /// Maximum resting items of a day: one every five minutes, the shortest interval of a device's schedule. The newest
    /// ones of the day are kept.
    public static let restingLimit = 288

    /// Maximum workouts listed for a day: one every half hour, more than a person does. The first ones are kept.
    public static let workoutLimit = 48

    /// A day without samples.
    public init(metric: Metric, day: LocalDay) {
        self.metric = metric
        self.day = day
        tally =
            switch metric.shape {
            case .value: .values(ValueTally())
            case .pressure: .pressures(PressureTally())
            case .count: .count(CountTally(decimals: metric.decimals))
            case .sleep: .sleep(DailySummary.SleepTotals())
            case .session: .sport(SportTally())
            }
    }

    /// Adds a sample of this day. Ignores samples of another metric or with a reading of another kind. The caller must
    /// make sure that the sample belongs to this day (`DailySummary.day(of:in:)`).
    public mutating func add(_ sample: StoredSample) {
        guard sample.sample.metric == metric, tally.add(sample) else { return }
        if sample.sample.isUserInitiated { manualCount += 1 } else { automaticCount += 1 }
    }

    /// The summary of all samples so far.
    public var summary: DailySummary {
        DailySummary(
            metric: metric, day: day, count: manualCount + automaticCount, manualCount: manualCount,
            average: tally.average, details: tally.details)
    }
}

/// Tally of the samples so far, by kind of reading.
private enum Tally: Sendable, Hashable {
    case values(ValueTally)
    case pressures(PressureTally)
    case count(CountTally)
    case sleep(DailySummary.SleepTotals)
    case sport(SportTally)

    /// Adds a sample; `false` if its reading is of another kind.
    mutating func add(_ sample: StoredSample) -> Bool {
        switch (self, sample.sample.reading) {
        case (.values(var tally), .value(let value)):
            self = .count(CountTally())  // so that the resting items have one owner and are not copied
            tally.add(sample, value)
            self = .values(tally)
        case (.pressures(var tally), .bloodPressure(let pressure)):
            tally.add(sample, pressure)
            self = .pressures(tally)
        case (.count(var tally), .count(let increment)):
            tally.add(increment)
            self = .count(tally)
        case (.sleep(var totals), .sleep(let sleep)):
            totals.add(sleep, from: sample.sample.start, to: sample.sample.end)
            self = .sleep(totals)
        case (.sport(var tally), .sport(let sport)):
            tally.add(sport, of: sample)
            self = .sport(tally)
        default: return false
        }
        return true
    }

    var average: Double? { if case .values(let tally) = self { tally.average } else { nil } }

    var details: DailySummary.Details {
        switch self {
        case .values(let tally): .values(tally.extremes)
        case .pressures(let tally): .bloodPressure(tally.extremes)
        case .count(let tally): .count(total: tally.total, distance: tally.distance.total, energy: tally.energy.total)
        case .sleep(let totals): .sleep(totals)
        case .sport(let tally): .sport(tally.totals)
        }
    }
}
