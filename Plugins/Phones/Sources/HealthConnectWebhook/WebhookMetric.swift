import GatewayKit
import Vitals

/// What a list's records are, by its name.
enum WebhookMetric {
    /// A number of a moment, in the usual unit, or this much of the gateway's.
    case value(Metric, times: Double? = nil)
    /// A number of an interval, this much of the gateway's unit.
    case count(Metric, times: Double = 1)
    case nutrition, skinTemperature, bloodPressure, sleep, exercise

    private static let kinds: [String: WebhookMetric] = [
        "heart_rate": .value(.heartRate), "resting_heart_rate": .value(.restingHeartRate),
        "heart_rate_variability": .value(.heartRateVariability), "oxygen_saturation": .value(.bloodOxygen),
        "respiratory_rate": .value(.respiratoryRate), "body_temperature": .value(.temperature),
        "basal_body_temperature": .value(.temperature), "weight": .value(.weight),
        "blood_glucose": .value(.bloodGlucose), "vo2_max": .value(.vo2Max, times: 1),
        "body_fat": .value(.bodyFat, times: 1), "lean_body_mass": .value(.leanMass, times: 1),
        // Metres and litres.
        "height": .value(.height, times: 100), "hydration": .count(.hydration, times: 1000),
        "steps": .count(.steps), "distance": .count(.distance),
        // Kilocalories.
        "active_calories": .count(.activeEnergy), "total_calories": .count(.totalEnergy),
        "nutrition": .nutrition, "skin_temperature": .skinTemperature, "blood_pressure": .bloodPressure,
        "sleep": .sleep, "exercise": .exercise,
    ]

    /// Lists that are left out on purpose: a person notes them; a rate of energy at a moment is no energy of any interval.
    static let leftOut: Set<String> = [
        "basal_metabolic_rate", "menstruation_flow", "menstruation_period", "intermenstrual_bleeding", "ovulation_test",
        "cervical_mucus", "sexual_activity",
    ]

    init?(name: String) {
        guard let kind = Self.kinds[name] else { return nil }
        self = kind
    }

    /// Whether they count what a person does, which several devices and apps count at once.
    var isMovement: Bool { if case .count(let metric, _) = self { metric != .hydration } else { false } }

    /// Whether each food or drink may be a record of its own.
    var isFood: Bool {
        switch self {
        case .nutrition, .count(.hydration, _): true
        default: false
        }
    }

    /// The longest session of one stage that may be a part of a night: some apps write each stage as a session, and few last longer.
    static let longestStage: Duration = .hours(1)

    /// The samples of a record.
    func records(of entry: WebhookEntry, name: String) -> [Record] {
        if let start = entry.start, let end = entry.end, end < start {
            return [.refused(member: "", reason: "\(name) whose end_time is before its start_time")]
        }
        guard case .nutrition = self, entry.start != nil else { return [record(of: entry, name: name)] }
        let parts: [(Metric, Double?)] = [
            (.dietaryEnergy, entry.number), (.protein, entry.protein), (.carbohydrates, entry.carbohydrates),
            (.fat, entry.fat),
        ]
        // A food has none of most things, and may have had it before.
        let found = parts.map { metric, amount in
            WebhookMetric.count(metric).record(of: entry, name: name, amount: amount ?? 0, isPart: true)
        }
        // One of nothing is skipped once, unless it corrects the energy.
        guard parts.allSatisfy({ $0.1 == nil || $0.1 == 0 }), case .nothing(let energy, _)? = found.first else {
            return found
        }
        let reason = "nutrition without energy, protein, carbohydrates or fat"
        return [Record.nothing(energy, reason: reason)] + found.dropFirst()
    }

    private func record(of entry: WebhookEntry, name: String) -> Record {
        switch self {
        case .sleep: sleep(of: entry)
        case .exercise: exercise(of: entry)
        default: record(of: entry, name: name, amount: entry.number)
        }
    }

    /// The sample of a record that has this number, or others.
    /// - Parameter isPart: whether the number is one of several.
    private func record(of entry: WebhookEntry, name: String, amount: Double?, isPart: Bool = false) -> Record {
        guard let start = entry.start else { return .skipped("\(name) without a readable time") }
        var sample = Sample(metric: .steps, start: start, end: entry.end ?? start, reading: .count(Increment(count: 0)))
        switch self {
        case .value(let metric, let factor):
            guard let amount,
                // Glucose alone comes in another unit than the gateway's.
                let value = factor.map({ (amount * $0).rounded(to: 3) })
                    ?? PhoneUnit.value(amount, metric == .bloodGlucose ? "mmol/l" : nil, of: metric)
            else { return .skipped("\(name) without a value") }
            sample.metric = metric
            sample.reading = .value(value)
            if metric == .heartRateVariability { sample.qualifiers = [.statistic: "rmssd"] }
        case .count(let metric, let factor):
            guard let increment = amount.flatMap({ Increment(amount: $0 * factor) }) else {
                return .skipped("\(name) without a value")
            }
            sample.metric = metric
            sample.reading = .count(increment)
            return .counted(sample, isPart: isPart)
        case .skinTemperature:
            guard let delta = entry.delta, let baseline = entry.baseline else {
                return .skipped("\(name) without its baseline: a difference alone is no temperature")
            }
            sample.metric = .skinTemperature
            sample.reading = .value((baseline + delta).rounded(to: 2))
        default:
            guard let systolic = entry.systolic, let diastolic = entry.diastolic else {
                return .skipped("\(name) without a value")
            }
            sample.metric = .bloodPressure
            sample.reading = .bloodPressure(BloodPressure(systolic: systolic, diastolic: diastolic))
        }
        return .sample(sample)
    }

    private func sleep(of entry: WebhookEntry) -> Record {
        // The app says when a session ends, and how long it is.
        let length = entry.duration.flatMap { Int64(exactly: $0.rounded()) }.map { Duration.seconds(max($0, 0)) }
        guard let end = entry.end, let start = length.map({ end - $0 }) ?? entry.stages.first?.start else {
            return .skipped("a sleep without readable times")
        }
        let from = min(start, entry.stages.first?.start ?? start)
        let to = max(end, entry.stages.map(\.end).max() ?? end)
        guard from < to else { return .skipped("a sleep without a length") }
        let stages = entry.stages.completed(from: from, to: to)
        var sample = Sample(metric: .sleep, start: from, end: to, reading: .sleep(Sleep(stages: stages)))
        if stages.count == 1, sample.duration <= Self.longestStage { sample.claim = .part }
        return .sample(sample)
    }

    private func exercise(of entry: WebhookEntry) -> Record {
        guard let start = entry.start, let end = entry.end else {
            return .skipped("a workout without readable times")
        }
        let steps = entry.steps.flatMap { Int(exactly: $0.rounded()) }
        // The app writes the number that the library androidx has for the type, or a word.
        let activity = entry.type.map { word in Int64(word).map(ExerciseType.name(ofLibrary:)) ?? word.activity }
        return .sample(
            Sample(
                metric: .sport, start: start, end: end,
                reading: .sport(Sport(activity: activity ?? "unknown", distance: entry.distance, steps: steps))))
    }
}
