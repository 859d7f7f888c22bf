import Vitals

/// A metric of the gateway, by what the app calls it: a row for each name.
struct ExportedMetric {
    let metric: Metric
    /// The words that all of its samples have.
    private let qualifiers: [Qualifier: String]
    /// What a source measures with it, where it may have the metric twice at the same time.
    let part: String?

    private init(_ metric: Metric, _ qualifiers: [Qualifier: String] = [:], part: String? = nil) {
        (self.metric, self.qualifiers, self.part) = (metric, qualifiers, part)
    }

    /// How long a record may take that is not summed up, and whose end the app does not write: more than those of watches and phones,
    /// which write what they counted every few minutes.
    static let longestRecord: Duration = .hours(1)

    private static let rows: [String: ExportedMetric] = [
        "heart_rate": Self(.heartRate),
        "resting_heart_rate": Self(.restingHeartRate),
        "walking_heart_rate_average": Self(.walkingHeartRate),
        "cardio_recovery": Self(.heartRateRecovery),
        // HealthKit's variability is the standard deviation (`heartRateVariabilitySDNN`).
        "heart_rate_variability": Self(.heartRateVariability, [.statistic: "sdnn"]),
        "blood_oxygen_saturation": Self(.bloodOxygen),
        "blood_pressure": Self(.bloodPressure),
        "respiratory_rate": Self(.respiratoryRate),
        "vo2_max": Self(.vo2Max),
        "body_temperature": Self(.temperature),
        "basal_body_temperature": Self(.temperature),
        "apple_sleeping_wrist_temperature": Self(.skinTemperature),
        "blood_glucose": Self(.bloodGlucose),
        "weight_body_mass": Self(.weight),
        "weight_&_body_mass": Self(.weight),
        "body_mass": Self(.weight),
        "body_fat_percentage": Self(.bodyFat),
        "lean_body_mass": Self(.leanMass),
        "height": Self(.height),
        "body_mass_index": Self(.bodyMassIndex),
        "environmental_audio_exposure": Self(.noiseExposure),
        "headphone_audio_exposure": Self(.noiseExposure, part: "headphones"),
        "sleep_analysis": Self(.sleep),
        "step_count": Self(.steps),
        "walking_running_distance": Self(.distance, [.activity: "walking_running"]),
        "cycling_distance": Self(.distance, [.activity: "cycling"]),
        "swimming_distance": Self(.distance, [.activity: "swimming"]),
        "wheelchair_distance": Self(.distance, [.activity: "wheelchair"]),
        "active_energy": Self(.activeEnergy),
        "basal_energy_burned": Self(.basalEnergy),
        "flights_climbed": Self(.floors),
        "apple_exercise_time": Self(.exerciseMinutes),
        "apple_stand_hour": Self(.standHours),
        "dietary_water": Self(.hydration),
        "dietary_energy": Self(.dietaryEnergy),
        "protein": Self(.protein),
        "carbohydrates": Self(.carbohydrates),
        "total_fat": Self(.fat),
    ]

    init?(name: String) {
        guard let row = Self.rows[name] else { return nil }
        self = row
    }

    /// The sample of an entry. One of a sleep is none: it is a stage, or has totals.
    /// - Parameter period: how long its interval may be if it does not say that.
    func record(of entry: ExportedEntry, name: String, unit: String?, period: Duration) -> Record {
        guard let start = entry.start else { return .skipped("\(name) without a readable time") }
        // What is of the day itself is of all its hours. Another value has a time that the app did not send.
        guard entry.day == nil || metric.shape == .count || metric.isOfDay else {
            return .skipped("\(name) of a whole day, which has no time; in the app, choose minutes")
        }
        // The app does not say how long its intervals are, unless an entry has both ends.
        let end = entry.day?.upperBound ?? entry.end ?? start
        guard start <= end else { return .refused(member: "", reason: "\(name) whose end is before its start") }
        let noValue = Record.skipped("\(name) without a value")
        let wrongUnit = Record.skipped(unit.map { "\(name) in the unit \($0)" } ?? "\(name) without a unit")
        let reading: Reading
        switch metric.shape {
        case .value:
            // The lowest and the highest value of an interval have no time of their own, and are no samples.
            guard let number = entry.average ?? entry.quantity else { return noValue }
            guard let value = ExportedUnit.value(number, unit, of: metric) else { return wrongUnit }
            reading = .value(value)
        case .count:
            guard let number = entry.quantity else { return noValue }
            guard let value = ExportedUnit.value(number, unit, of: metric) else { return wrongUnit }
            // HealthKit divides a record evenly among its minutes, so that they have parts of a step.
            guard let count = Increment(amount: value) else {
                return .skipped("\(name) that is no number of \(metric.unit ?? "units")")
            }
            reading = .count(count)
        case .pressure:
            guard let high = entry.systolic, let low = entry.diastolic else { return noValue }
            guard let systolic = PhoneUnit.pressure(high, unit), let diastolic = PhoneUnit.pressure(low, unit) else {
                return wrongUnit
            }
            reading = .bloodPressure(BloodPressure(systolic: systolic, diastolic: diastolic))
        case .sleep, .session: return noValue
        }
        let sample = Sample(metric: metric, start: start, end: end, qualifiers: words(of: entry), reading: reading)
        if let reason = sample.tooMuch(in: period) { return .refused(member: "", reason: "\(name): \(reason)") }
        return .counted(sample)
    }

    private func words(of entry: ExportedEntry) -> [Qualifier: String] {
        switch (metric, entry.meal?.lowercased()) {
        case (.bloodGlucose, "before meal"?): [.meal: "before"]
        case (.bloodGlucose, "after meal"?): [.meal: "after"]
        default: qualifiers
        }
    }
}

extension Sample {
    /// Why it is more than anybody does in this time, if it does not say how long it took; `nil` if it is not.
    fileprivate func tooMuch(in period: Duration) -> String? {
        guard start == end, metric.highestRate != nil, isValid else { return nil }
        var lasting = self
        lasting.end = start + period
        let minutes = period.inMilliseconds / 60_000
        let name = [1: "a minute", 60: "an hour", 1440: "a day"][minutes] ?? "\(minutes) minutes"
        return lasting.violations.first.map { "\($0.message) in \(name)" }
    }
}

extension Metric {
    /// Whether a phone determines one value for a whole day or night.
    fileprivate var isOfDay: Bool { [.restingHeartRate, .walkingHeartRate, .skinTemperature].contains(self) }
}

/// Units as the app writes them, which are mostly those of HealthKit (`HKUnit`).
enum ExportedUnit {
    /// Metrics that are written like another one.
    private static let alike: [Metric: Metric] = [
        .walkingHeartRate: .heartRate, .heartRateRecovery: .heartRate, .bodyFat: .bloodOxygen, .leanMass: .weight,
    ]
    /// What HealthKit mostly calls the metric's unit, where that is another word.
    private static let usual: [Metric: String] = [
        .heartRate: "count/min", .restingHeartRate: "count/min", .walkingHeartRate: "count/min",
        .respiratoryRate: "count/min", .steps: "count", .floors: "count",
    ]
    /// What a number without a dimension is called, in small letters, and the spellings of the oxygen uptake without signs.
    private static let plain: [Metric: [String]] = [
        .steps: ["count", "steps", ""], .floors: ["count"], .standHours: ["count"], .bodyMassIndex: ["count"],
        .vo2Max: ["mlkgmin", "mlminkg"],
    ]
    /// Names that only HealthKit has, in small letters, each as an amount of another unit. Ounce, cup and pint are parts of the gallons
    /// of the United States (231 cubic inches) and of the United Kingdom (4.54609 L).
    private static let own: [String: (amount: Double, unit: String)] = [
        "hr": (1, "h"), "dbaspl": (1, "dBA"),
        "fl_oz_us": (29.573_529_562_5, "mL"), "cup_us": (236.588_236_5, "mL"), "pt_us": (473.176_473, "mL"),
        "fl_oz_imp": (28.413_062_5, "mL"), "cup_imp": (284.130_625, "mL"), "pt_imp": (568.261_25, "mL"),
    ]

    /// A number in the metric's unit; `nil` if its unit is unknown, or missing where there are several usual ones.
    static func value(_ number: Double, _ unit: String?, of metric: Metric) -> Double? {
        // Most need no conversion. A share may be one of 1 instead of 100.
        if let unit, metric.unit != "%", unit == metric.unit || unit == usual[metric] { return number }
        if let value = PhoneUnit.value(number, unit, of: alike[metric] ?? metric) { return value }
        let unit = unit ?? ""
        let small = unit.lowercased()
        let letters = metric == .vo2Max ? small.filter { $0.isLetter } : small
        if plain[metric]?.contains(letters) == true { return number }
        guard !unit.isEmpty else { return nil }
        let (amount, name) = own[small] ?? (amount: 1, unit: unit)
        return ValueUnit(name, of: metric).map { $0.convert(number * amount) }
    }
}
