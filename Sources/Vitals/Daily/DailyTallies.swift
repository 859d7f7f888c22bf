/// Tally of a day's samples with one value.
struct ValueTally: Sendable, Hashable {
    private var mean = DailyMean()
    private var maximum = Extreme(.high)
    private var minimum = Extreme(.low)
    private var resting: [StoredSample] = []
    /// The decisive words of all samples so far; `nil` before the first one.
    private var words: [Qualifier: String]?
    /// Whether samples differ in them: then they have no common mean and no common extremes.
    private var isMixed = false

    mutating func add(_ sample: StoredSample, _ value: Double) {
        let own = sample.sample.decisiveQualifiers
        if words == nil { words = own } else if words != own { isMixed = true }
        mean.add(value, sample.sample.kind)
        maximum.add(sample, value)
        minimum.add(sample, value)
        if sample.sample.kind == .resting || sample.sample.metric.restOf != nil {
            resting.insertInOrder(sample, newest: DailyAccumulator.restingLimit)
        }
    }

    var average: Double? { isMixed ? nil : mean.value }

    var extremes: DailySummary.Extremes {
        DailySummary.Extremes(
            maximum: isMixed ? nil : maximum.sample, minimum: isMixed ? nil : minimum.sample, resting: resting)
    }
}

/// Tally of a day's blood pressures.
struct PressureTally: Sendable, Hashable {
    private var systolic = DailyMean()
    private var diastolic = DailyMean()
    private var pulse = DailyMean()
    private var maximumSystolic = Extreme(.high)
    private var minimumSystolic = Extreme(.low)
    private var maximumDiastolic = Extreme(.high)
    private var minimumDiastolic = Extreme(.low)

    mutating func add(_ sample: StoredSample, _ pressure: BloodPressure) {
        systolic.add(pressure.systolic, sample.sample.kind)
        diastolic.add(pressure.diastolic, sample.sample.kind)
        // 0 means not measured.
        pulse.add(pressure.pulse.flatMap { $0 > 0 ? $0 : nil }, sample.sample.kind)
        maximumSystolic.add(sample, pressure.systolic)
        minimumSystolic.add(sample, pressure.systolic)
        maximumDiastolic.add(sample, pressure.diastolic)
        minimumDiastolic.add(sample, pressure.diastolic)
    }

    var extremes: DailySummary.PressureExtremes {
        var average: BloodPressure?
        if let systolic = systolic.value, let diastolic = diastolic.value {
            average = BloodPressure(systolic: systolic, diastolic: diastolic, pulse: pulse.value)
        }
        return DailySummary.PressureExtremes(
            maximumSystolic: maximumSystolic.sample, minimumSystolic: minimumSystolic.sample,
            maximumDiastolic: maximumDiastolic.sample, minimumDiastolic: minimumDiastolic.sample, average: average)
    }
}

/// Tally of a day's counts.
struct CountTally: Sendable, Hashable {
    private var whole = 0
    private var thousandths = 0
    private(set) var distance = ExactSum()
    private(set) var energy = ExactSum()
    /// How many parts of the total make one unit: 1, 10, 100 or 1000.
    private let parts: Int

    /// A total with this many decimals, at most three.
    init(decimals: Int = 0) { parts = (0..<min(decimals, 3)).reduce(1) { parts, _ in parts * 10 } }

    /// The sum of all samples. Only the sum is rounded: minutes with parts of a step add up to whole ones.
    var total: Double {
        let perPart = 1000 / parts
        let rest = thousandths.saturatingSum(perPart / 2) / perPart
        return (Double(whole) * Double(parts) + Double(rest)) / Double(parts)
    }

    mutating func add(_ increment: Increment) {
        whole = whole.saturatingSum(increment.count)
        thousandths = thousandths.saturatingSum(increment.thousandths)
        distance.add(increment.distance)
        energy.add(increment.energy)
    }
}

/// Tally of a day's workouts.
struct SportTally: Sendable, Hashable {
    private var minutes = 0
    private var sessions = 0
    private var distance = ExactSum()
    private var energy = ExactSum()
    private var workouts: [StoredSample] = []

    mutating func add(_ sport: Sport, of stored: StoredSample) {
        minutes = minutes.saturatingSum(Int(stored.sample.duration.inMilliseconds / 60_000))
        sessions += 1
        distance.add(sport.distance)
        energy.add(sport.energy)
        workouts.insertInOrder(stored, limit: DailyAccumulator.workoutLimit)
    }

    var totals: DailySummary.SportTotals {
        DailySummary.SportTotals(
            minutes: minutes, sessions: sessions, distance: distance.total, energy: energy.total,
            workouts: workouts.compactMap { stored in
                guard case .sport(let sport) = stored.sample.reading else { return nil }
                return DailySummary.Workout(
                    id: stored.id, start: stored.sample.start, end: stored.sample.end, activity: sport.activity)
            })
    }
}

extension DailySummary.SleepTotals {
    /// Adds a sleep in whole minutes, so that the day's total is the sum of the samples' values.
    mutating func add(_ sleep: Sleep, from start: Timestamp, to end: Timestamp) {
        deep = deep.saturatingSum(sleep.minutes(.deep))
        light = light.saturatingSum(sleep.minutes(.light))
        rem = rem.saturatingSum(sleep.minutes(.rem))
        awake = awake.saturatingSum(sleep.minutes(.awake))
        unstaged = unstaged.saturatingSum(sleep.minutes(.asleep))
        inBed = inBed.saturatingSum(sleep.minutes(.inBed))
        asleep = asleep.saturatingSum(sleep.minutesAsleep)
        self.start = min(self.start ?? start, start)
        self.end = max(self.end ?? end, end)
    }
}

extension [StoredSample] {
    /// Inserts a sample in order, nearly always at the end. Beyond the limit, the first ones are kept.
    mutating func insertInOrder(_ sample: StoredSample, limit: Int) {
        let place = place(of: sample)
        guard place < limit else { return }
        insert(sample, at: place)
        if count > limit { removeLast() }
    }

    /// Inserts a sample in order, nearly always at the end. Beyond the limit, the newest ones are kept.
    mutating func insertInOrder(_ sample: StoredSample, newest limit: Int) {
        let place = place(of: sample)
        guard place > 0 || count < limit else { return }
        insert(sample, at: place)
        if count > limit { removeFirst() }
    }

    /// Where a sample belongs in order, sought from the end.
    private func place(of sample: StoredSample) -> Int {
        var place = endIndex
        while place > 0, sample.isBefore(self[place - 1]) { place -= 1 }
        return place
    }
}

/// The sample with the highest or lowest value so far. Of equal values the first counts: by start, then end, then id,
/// so that the order of arrival does not matter.
struct Extreme: Sendable, Hashable {
    /// The sample in a box: it is rarely read, and more rarely replaced.
    private indirect enum Held: Sendable, Hashable {
        case nothing
        case sample(StoredSample)
    }
    private var held = Held.nothing
    private var value = 0.0
    private let side: AlertRule.Side

    /// The sample; `nil` before the first one.
    var sample: StoredSample? { if case .sample(let sample) = held { sample } else { nil } }

    /// An extreme on this side.
    init(_ side: AlertRule.Side) { self.side = side }

    /// Considers a sample with this value. Ignores NaN.
    mutating func add(_ candidate: StoredSample, _ candidateValue: Double) {
        guard !candidateValue.isNaN else { return }
        if case .sample(let sample) = held {
            let isFurther = side == .high ? candidateValue > value : candidateValue < value
            guard isFurther || (candidateValue == value && candidate.isBefore(sample)) else { return }
        }
        (held, value) = (.sample(candidate), candidateValue)
    }
}

extension StoredSample {
    /// Whether this sample comes first by start, end and id.
    func isBefore(_ other: StoredSample) -> Bool {
        let (ours, theirs) = (sample, other.sample)
        if ours.start != theirs.start { return ours.start < theirs.start }
        if ours.end != theirs.end { return ours.end < theirs.end }
        let (id, otherID) = (id, other.id)
        return (id.high, id.low) < (otherID.high, otherID.low)
    }
}
