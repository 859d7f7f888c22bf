import Vitals

/// A night's sleep, in cycles of about 90 minutes: light, deep, light, REM, and occasionally a short awakening. Deep
/// sleep shrinks from cycle to cycle and REM grows, as in adults. A nap is like the beginning of a night.
struct Night: Sendable, Hashable {
    /// When the person falls asleep, on a whole minute.
    let start: Timestamp
    /// When the person wakes up, on a whole minute.
    let end: Timestamp
    /// The stages, without gaps from `start` to `end`.
    let stages: [Sleep.Stage]

    /// Minutes of deep sleep and of REM by cycle; the last value holds for all later cycles.
    private static let deep = [38, 30, 16, 8, 3, 0]
    private static let rem = [8, 17, 25, 31, 35, 35]

    /// The night or nap that ends on a date.
    init(from start: Timestamp, to end: Timestamp, day: LocalDay, noise: Noise) {
        self.start = start
        self.end = end
        var stages: [Sleep.Stage] = []
        var moment = start
        func add(_ depth: Sleep.Stage.Depth, _ minutes: Int) {
            let until = min(moment + .minutes(minutes), end)
            guard until > moment else { return }
            if let last = stages.last, last.depth == depth {
                stages[stages.count - 1].end = until
            } else {
                stages.append(Sleep.Stage(depth, from: moment, to: until))
            }
            moment = until
        }
        var cycle = 0
        while moment < end {
            let key = Int64(day.number) * 16 + Int64(cycle)
            let place = min(cycle, Self.deep.count - 1)
            let length = noise.integer(.cycleLength, key, in: 80...102)
            let deep = max(0, Self.deep[place] + noise.integer(.deepLength, key, in: -5...5))
            let rem = max(3, Self.rem[place] + noise.integer(.remLength, key, in: -6...6))
            let light = max(10, length - deep - rem)
            add(.light, light * 2 / 5)
            add(.deep, deep)
            add(.light, light - light * 2 / 5)
            add(.rem, rem)
            if noise.happens(.awakening, key, probability: 0.45) {
                add(.awake, noise.integer(.awakening, ~key, in: 2...7))
            }
            cycle += 1
        }
        self.stages = stages
    }

    /// The night as a device reports it that knows this much of it.
    func sleep(_ detail: SimulatorOptions.SleepDetail) -> Sleep {
        switch detail {
        case .stages: return Sleep(stages: stages)
        case .asleep:
            var spans: [Sleep.Stage] = []
            for stage in stages {
                let depth: Sleep.Stage.Depth = stage.depth == .awake ? .awake : .asleep
                if let last = spans.last, last.depth == depth {
                    spans[spans.count - 1].end = stage.end
                } else {
                    spans.append(Sleep.Stage(depth, from: stage.start, to: stage.end))
                }
            }
            return Sleep(stages: spans)
        case .totals:
            let whole = Sleep(stages: stages)
            let depths = Sleep.Stage.Depth.allCases.map { ($0, whole.minutes($0)) }.filter { $0.1 > 0 }
            return Sleep(stages: [], untimed: Dictionary(uniqueKeysWithValues: depths))
        case .inBed: return Sleep(stages: [Sleep.Stage(.inBed, from: start, to: end)])
        }
    }

    /// Whether the person is asleep at that moment.
    func contains(_ moment: Timestamp) -> Bool { start <= moment && moment < end }

    /// The index of the stage at a moment.
    func stage(at moment: Timestamp) -> Int {
        var (lower, upper) = (0, stages.count)
        while upper - lower > 1 {
            let middle = (lower + upper) / 2
            if stages[middle].start <= moment { lower = middle } else { upper = middle }
        }
        return lower
    }
}
