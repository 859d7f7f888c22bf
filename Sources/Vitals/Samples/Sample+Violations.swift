extension Sample {
    /// Every reason to refuse this sample, with the path of the wrong member on Vitals Link; empty for a plausible
    /// sample.
    public var violations: [Violation] {
        var result: [Violation] = []
        check { path, message in result.append(Violation(path: path(), message: message())) }
        return result
    }

    /// Whether the sample is plausible: `violations` is empty. Faster than building that list.
    public var isValid: Bool {
        var isValid = true
        check { _, _ in isValid = false }
        return isValid
    }

    /// Receives a violation: its path, and what would be right. Both texts are built only on demand.
    private typealias Report = (_ path: @autoclosure () -> String, _ message: @autoclosure () -> String) -> Void

    /// Reports each violation. `violations` and `isValid` share this one list of rules.
    private func check(_ report: Report) {
        if !SampleLimits.moments.contains(start) { report("start", "must be a time from 1970 to 2199") }
        if !SampleLimits.moments.contains(end) { report("end", "must be a time from 1970 to 2199") }
        if end < start { report("end", "must not be before start") }
        if duration > SampleLimits.duration { report("end", "must be at most 7 days after start") }
        if let user, !SampleLimits.users.contains(user) {
            report("user", "must be a slot from 0 to \(SampleLimits.users.upperBound)")
        }
        if let revision, !SampleLimits.revisions.contains(revision) {
            report("rev", "must be a whole number from 1 to \(SampleLimits.revisions.upperBound)")
        }
        if !qualifiers.isEmpty { checkQualifiers(report) }
        guard reading.shape == metric.shape else {
            return report("metric", "\(metric.rawValue) has another kind of reading")
        }
        switch reading {
        case .value(let value):
            guard let range = metric.range else { break }
            check("value", value, within: range, report)
        case .bloodPressure(let pressure): check(pressure, report)
        case .count(let increment): check(increment, report)
        case .sleep(let sleep): check(sleep, report)
        case .sport(let sport): check(sport, report)
        }
    }

    private func checkQualifiers(_ report: Report) {
        for (qualifier, word) in qualifiers.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            guard let known = metric.qualifiers.first(where: { $0.qualifier == qualifier }) else {
                report(qualifier.rawValue, "must be absent; \(metric.rawValue) has none")
                continue
            }
            if !known.words.contains(word) {
                report(qualifier.rawValue, "must be one of \(known.words.joined(separator: ", "))")
            }
        }
    }

    private func check(_ pressure: BloodPressure, _ report: Report) {
        if let range = metric.range {
            check("systolic", pressure.systolic, within: range, report)
            check("diastolic", pressure.diastolic, within: range, report)
        }
        if pressure.diastolic > pressure.systolic { report("diastolic", "must not be above systolic") }
        check("pulse", pressure.pulse, within: SampleLimits.pulse, report)
    }

    private func check(_ increment: Increment, _ report: Report) {
        let rate = metric.highestRate
        let ofActivity = qualifiers[.activity].flatMap { rate?.byActivity[$0] }
        // The whole units by themselves: the amount of a negative or a huge count might still be within the range.
        let most = metric.range.map {
            lasting($0, ofActivity ?? rate?.value, beside: rate?.further ?? 0, by: rate?.step)
        }
        if let range = most,
            increment.count < 0 || !(0..<1000).contains(increment.thousandths) || !range.contains(increment.amount)
        {
            let unit = metric.unit.map { " of \($0)" } ?? ""
            report("value", "must be a number\(unit) from 0 to \(range.upperBound.shortText)")
        }
        check("distance_m", increment.distance, within: lasting(SampleLimits.distance, rate?.distance), report)
        check("energy_kcal", increment.energy, within: lasting(SampleLimits.energy, rate?.energy), report)
    }

    private func check(_ sleep: Sleep, _ report: Report) {
        if sleep.stages.count > SampleLimits.stages {
            report("stages", "must be at most \(SampleLimits.stages) stages")
            return
        }
        var previous = start
        for (index, stage) in sleep.stages.enumerated() {
            if stage.start < start || stage.end > end {
                report("stages[\(index)]", "must lie within the sleep's start and end")
            } else if stage.start < previous {
                report("stages[\(index)].start", "must not be before the end of the stage before it")
            }
            if stage.end < stage.start { report("stages[\(index)].end", "must not be before the stage's start") }
            previous = max(previous, stage.end)
        }
        if duration > SampleLimits.sleep,
            sleep.minutesAsleep > Int(SampleLimits.sleep.inMilliseconds / 60_000)
        {
            report("end", "must leave at most 24 hours asleep")
        }
        guard !sleep.untimed.isEmpty else { return }
        if sleep.untimed.values.contains(where: { $0 < 0 }) { report("minutes", "must be whole minutes from 0") }
        // Each number may have been rounded up by its device.
        let total = Sleep.Stage.Depth.allCases.reduce(0) { $0.saturatingSum(sleep.minutes($1)) }
        let most = Int(duration.inMilliseconds / 60_000) + sleep.untimed.count
        if total > most { report("minutes", "must together be at most as long as the sleep") }
    }

    private func check(_ sport: Sport, _ report: Report) {
        if sport.activity.isEmpty || sport.activity.utf8.count > SampleLimits.activityLength {
            report("activity", "must be a text of 1 to \(SampleLimits.activityLength) bytes")
        }
        let rate = metric.highestRate
        check("distance_m", sport.distance, within: lasting(SampleLimits.distance, rate?.distance), report)
        check("energy_kcal", sport.energy, within: lasting(SampleLimits.energy, rate?.energy), report)
        check("steps", sport.steps.map { Double($0) }, within: lasting(SampleLimits.stepRange, rate?.steps), report)
        let rates = [
            ("heart_rate_min", sport.minimumHeartRate), ("heart_rate_avg", sport.averageHeartRate),
            ("heart_rate_max", sport.maximumHeartRate),
        ]
        for (path, rate) in rates { check(path, rate, within: SampleLimits.sportHeartRate, report) }
        let measured = rates.compactMap { path, rate -> (path: String, rate: Double)? in
            guard let rate, rate > 0 else { return nil }
            return (path: path, rate: rate)
        }
        for (lower, upper) in zip(measured, measured.dropFirst())
        where lower.rate - upper.rate > SampleLimits.heartRateRounding {
            report(upper.path, "must not be below \(lower.path)")
        }
        check(sport.laps, report)
    }

    private func check(_ laps: [Sport.Lap], _ report: Report) {
        if laps.count > SampleLimits.laps { return report("laps", "must be at most \(SampleLimits.laps) laps") }
        for (index, lap) in laps.enumerated() {
            let path = "laps[\(index)]"
            if lap.start < start || lap.end > end || lap.end < lap.start {
                report(path, "must lie within the workout's start and end, and not end before its start")
            }
            check("\(path).distance_m", lap.distance, within: SampleLimits.distance, report)
            check("\(path).energy_kcal", lap.energy, within: SampleLimits.energy, report)
            for rate in [lap.averageHeartRate, lap.maximumHeartRate] {
                check("\(path).heart_rate", rate, within: SampleLimits.sportHeartRate, report)
            }
        }
    }

    /// What of a range a person can do in the time that it took, at a highest rate per second and with what needs no time.
    private func lasting(
        _ range: ClosedRange<Double>, _ rate: Double?, beside further: Double = 0, by step: Duration? = nil
    ) -> ClosedRange<Double> {
        guard let rate else { return range }
        let most = SampleLimits.most(at: rate, in: duration, by: step) + further
        return range.clamped(to: 0...(step == nil && further == 0 ? most : most.rounded(.down)))
    }

    /// Checks that an optional number is within the range, which excludes infinity and NaN.
    private func check(_ path: String, _ number: Double?, within range: ClosedRange<Double>, _ report: Report) {
        guard let number, !range.contains(number) else { return }
        report(path, "must be a number from \(range.lowerBound.shortText) to \(range.upperBound.shortText)")
    }
}

extension Double {
    /// The number as text for people, without a fraction if whole.
    package var shortText: String { Int(exactly: self).map { String($0) } ?? String(self) }
}

/// Plausible bounds of a sample. A device that exceeds them is defective or malicious.
public enum SampleLimits {
    /// Times of a sample: from 1970 (the time of a clock that was never set) to before 2200.
    public static let moments =
        Timestamp(milliseconds: 0)..<Timestamp(milliseconds: 7_258_118_400_000)
    /// Maximum duration of a sample: a week. The longest races and sleeps take a few days.
    public static let duration = Duration.days(7)
    /// Steps of one sample: up to twice what the fastest runners make in 24 hours.
    public static let steps = 0...500_000
    /// The same as a range of amounts, which may have parts of a step.
    static let stepRange = Double(steps.lowerBound)...Double(steps.upperBound)
    /// Metres of one sample: up to a week at 30 km/h without a stop.
    public static let distance = 0.0...5_000_000
    /// Kilocalories of one sample: up to ten times what the hardest stage races take in a week.
    public static let energy = 0.0...1_000_000
    /// Steps in a second: more than the 5 of the fastest sprinters over 100 m (Salo et al., Medicine & Science in Sports & Exercise
    /// 43, 2011).
    public static let stepRate = 6.0
    /// Metres in a second on foot: more than the 12.4 of Usain Bolt at his fastest in Berlin, 2009 (World Athletics' biomechanical
    /// analysis), since trackers estimate.
    public static let footSpeed = 15.0
    /// Metres in a second by any means that counts as sport: more than the 82.2 of Denise Mueller-Korenek behind a car (183.9 mph, 2018)
    /// and the 71 of the fastest on skis.
    public static let speed = 85.0
    /// Kilocalories in a second: 24 W/kg, which the best sprinters on bicycles keep up for five seconds (Allen and Coggan, Training and
    /// Racing with a Power Meter), of 100 kg at an efficiency of a fifth.
    public static let energyRate = 3.0
    /// Floors in a second: three times the 86 of the Empire State Building in 9:33 minutes (Paul Crake, 2003), for a single minute.
    public static let floorRate = 0.5
    /// Kilocalories in a second at rest: what the equation of Mifflin and St Jeor (American Journal of Clinical Nutrition 51, 1990) has for
    /// the heaviest weight and the greatest height that are taken, at 18 years, is 8,165 a day.
    public static let basalRate = 0.1
    /// Minutes of exercise in a second, of whole minutes that have begun: all of the time.
    public static let exerciseRate = 1.0 / 60
    /// Hours with standing in a second, of whole hours that have begun: all of them.
    public static let standRate = 1.0 / 3600
    /// The hours of the clock that a time can touch beyond those that it lasts: 20 minutes may be of two.
    public static let furtherHours = 1.0
    /// Millilitres that a record may have at once, such as all of a day logged in a minute: what kidneys excrete in a day.
    public static let drink = 20_000.0
    /// Millilitres in a second beside those: kidneys excrete at most a litre an hour (Hew-Butler et al., Clinical Journal of Sport
    /// Medicine 25, 2015).
    public static let drinkRate = 1000.0 / 3600
    /// Kilocalories that a record may have at once, such as all of a day logged in a minute: more than the 22,000 or so of the 76 hot dogs
    /// that Joey Chestnut ate in ten minutes (2021, Guinness World Records).
    public static let meal = 30_000.0
    /// Kilocalories of food in a second beside those: 25,000 a day, more than twice the 10,000 of the hardest races.
    public static let mealRate = 25_000.0 / 86_400
    /// What takes less time may take as long: clocks are rounded to a minute, and trackers count in bursts.
    public static let shortest = Duration.minutes(1)
    /// Heart rates of a workout, in bpm. 0 is allowed, because some devices send it for "not measured".
    public static let sportHeartRate = 0.0...300
    /// By how much a mean heart rate of a workout may be above the highest, or below the lowest, in bpm: each may be rounded another way.
    public static let heartRateRounding = 1.0
    /// The pulse of a blood pressure, in bpm; 0 is allowed as in a workout.
    public static let pulse = 0.0...300
    /// The longest time asleep in one sleep: more is a wearable in a drawer. After eleven days awake Randy Gardner slept for 14.7 hours
    /// (Gulevich et al., Archives of General Psychiatry 15, 1966).
    public static let sleep = Duration.days(1)
    /// Maximum number of laps of one workout: 12 km in a pool of 25 m.
    public static let laps = 480
    /// Maximum number of stages of one sleep: one per 30 seconds (an epoch in sleep medicine) for a day.
    public static let stages = 2_880
    /// Maximum length of a workout's activity, in bytes of UTF-8.
    public static let activityLength = 64
    /// User slots of a device.
    public static let users = 0...9_999
    /// A device's own revisions of a record.
    public static let revisions = 1...1_000_000_000

    /// The most that is plausible at a highest rate per second. A record without a length does not say how long it took, so that all is.
    /// - Parameter step: the whole parts of time of which each counts that has begun; `nil` for none.
    public static func most(at rate: Double, in length: Duration, by step: Duration? = nil) -> Double {
        guard length != .zero else { return .infinity }
        var time = max(length, shortest).inMilliseconds
        // A longer one is refused anyway, and its sum might overflow.
        if let step = step?.inMilliseconds { time = (min(time, duration.inMilliseconds) + step - 1) / step * step }
        return rate * Double(time) / 1000
    }
}
