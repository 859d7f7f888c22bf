import GatewayKit
import Vitals

/// The metric of a list's records, by its name.
enum WebhookMetric {
    case value(Metric)
    case skinTemperature, steps, bloodPressure, sleep, exercise

    init?(name: String) {
        switch name {
        case "heart_rate": self = .value(.heartRate)
        case "resting_heart_rate": self = .value(.restingHeartRate)
        case "heart_rate_variability": self = .value(.heartRateVariability)
        case "oxygen_saturation": self = .value(.bloodOxygen)
        case "respiratory_rate": self = .value(.respiratoryRate)
        case "body_temperature", "basal_body_temperature": self = .value(.temperature)
        case "weight": self = .value(.weight)
        case "blood_glucose": self = .value(.bloodGlucose)
        case "skin_temperature": self = .skinTemperature
        case "steps": self = .steps
        case "blood_pressure": self = .bloodPressure
        case "sleep": self = .sleep
        case "exercise": self = .exercise
        default: return nil
        }
    }

    /// Whether its values are those of records that grow, and stay while their record changes.
    var isSeries: Bool {
        if case .skinTemperature = self { return true }
        if case .value(let metric) = self { return metric == .heartRate }
        return false
    }

    /// The sample of a record.
    func record(of entry: WebhookEntry, name: String) -> Record {
        switch self {
        case .sleep: return sleep(of: entry)
        case .exercise: return exercise(of: entry)
        default: break
        }
        guard let start = entry.start else { return .skipped("\(name) without a readable time") }
        let end = entry.end.map { max($0, start) } ?? start
        var sample = Sample(metric: .steps, start: start, end: end, reading: .count(Increment(count: 0)))
        switch self {
        case .value(let metric):
            guard let number = entry.number,
                // Glucose alone comes in another unit than the gateway's.
                let value = PhoneUnit.value(number, metric == .bloodGlucose ? "mmol/l" : nil, of: metric)
            else { return .skipped("\(name) without a value") }
            sample.metric = metric
            sample.reading = .value(value)
            if metric == .heartRateVariability { sample.qualifiers = [.statistic: "rmssd"] }
        case .skinTemperature:
            guard let delta = entry.delta, let baseline = entry.baseline else {
                return .skipped("\(name) without its baseline: a difference alone is no temperature")
            }
            sample.metric = .skinTemperature
            sample.reading = .value((baseline + delta).rounded(to: 2))
        case .steps:
            guard let count = entry.number.flatMap({ Int(exactly: $0) }) else {
                return .skipped("\(name) without a value")
            }
            guard count != 0 else { return .nothing(of: .steps) }
            sample.reading = .count(Increment(count: count))
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
        guard let end = entry.end, let first = entry.stages.first else {
            return .skipped("a sleep without the times of its stages")
        }
        // The app says when a session ends, and how long it is.
        let start = entry.duration.flatMap { Int64(exactly: $0.rounded()) }.map { end - .seconds($0) } ?? first.start
        let last = entry.stages.map(\.end).max() ?? end
        return .sample(
            Sample(
                metric: .sleep, start: min(start, first.start), end: max(end, last),
                reading: .sleep(Sleep(stages: entry.stages))))
    }

    private func exercise(of entry: WebhookEntry) -> Record {
        guard let start = entry.start, let end = entry.end, start <= end else {
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
