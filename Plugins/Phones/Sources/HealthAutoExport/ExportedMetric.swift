import Vitals

/// The metric of an entry of `metrics`, by its name.
enum ExportedMetric {
    case value(Metric)
    case steps, bloodPressure, sleep

    init?(name: String) {
        switch name {
        case "heart_rate": self = .value(.heartRate)
        case "resting_heart_rate": self = .value(.restingHeartRate)
        case "heart_rate_variability": self = .value(.heartRateVariability)
        case "blood_oxygen_saturation": self = .value(.bloodOxygen)
        case "respiratory_rate": self = .value(.respiratoryRate)
        case "body_temperature", "basal_body_temperature": self = .value(.temperature)
        case "apple_sleeping_wrist_temperature": self = .value(.skinTemperature)
        case "blood_glucose": self = .value(.bloodGlucose)
        case "weight_body_mass", "body_mass": self = .value(.weight)
        case "step_count": self = .steps
        case "blood_pressure": self = .bloodPressure
        case "sleep_analysis": self = .sleep
        default: return nil
        }
    }

    /// The sample of an entry. A sleep is none: its entries are stages.
    func record(of entry: ExportedEntry, name: String, unit: String?) -> Record {
        guard let start = entry.start else { return .skipped("\(name) without a readable time") }
        // The app does not say how long its intervals are, unless an entry has both ends.
        let end = entry.end.map { max($0, start) } ?? start
        let wholeDay = Record.skipped("\(name) of a whole day, which has no time; in the app, choose minutes")
        let wrongUnit = Record.skipped("\(name) in the unit \(unit ?? "")")
        let noValue = Record.skipped("\(name) without a value")
        switch self {
        case .value(let metric):
            // A value of the day itself is one of all its hours. Another has a time that the app did not send.
            guard entry.day == nil || metric.isOfDay else { return wholeDay }
            let end = entry.day?.upperBound ?? end
            // The lowest and the highest value of an interval have no time of their own, and are no samples.
            guard let number = entry.average ?? entry.quantity else { return noValue }
            guard let value = PhoneUnit.value(number, unit, of: metric) else { return wrongUnit }
            return .sample(
                Sample(
                    metric: metric, start: start, end: end, qualifiers: qualifiers(of: metric, entry),
                    reading: .value(value)))
        case .steps:
            guard let number = entry.quantity else { return noValue }
            guard ["count", "steps", ""].contains(unit ?? "") else { return wrongUnit }
            // HealthKit divides a record evenly among its minutes, so that they have parts of a step.
            guard let steps = Increment(amount: number) else { return .skipped("\(name) that is no number of steps") }
            guard steps.amount > 0 else { return .nothing(of: .steps) }
            let last = entry.day?.upperBound ?? end
            return .sample(Sample(metric: .steps, start: start, end: last, reading: .count(steps)))
        case .bloodPressure:
            guard entry.day == nil else { return wholeDay }
            guard let high = entry.systolic, let low = entry.diastolic else { return noValue }
            guard let systolic = PhoneUnit.pressure(high, unit), let diastolic = PhoneUnit.pressure(low, unit) else {
                return wrongUnit
            }
            return .sample(
                Sample(
                    metric: .bloodPressure, start: start, end: end,
                    reading: .bloodPressure(BloodPressure(systolic: systolic, diastolic: diastolic))))
        case .sleep: return .skipped("sleep that is no stage")
        }
    }

    /// HealthKit's variability is the standard deviation (`heartRateVariabilitySDNN`).
    private func qualifiers(of metric: Metric, _ entry: ExportedEntry) -> [Qualifier: String] {
        switch (metric, entry.meal?.lowercased()) {
        case (.heartRateVariability, _): [.statistic: "sdnn"]
        case (.bloodGlucose, "before meal"?): [.meal: "before"]
        case (.bloodGlucose, "after meal"?): [.meal: "after"]
        default: [:]
        }
    }
}

extension Metric {
    /// Whether a phone determines one value for a whole day or night.
    fileprivate var isOfDay: Bool { self == .restingHeartRate || self == .skinTemperature }
}
