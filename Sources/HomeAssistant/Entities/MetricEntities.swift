import Vitals

/// The presentation of one metric's entities: a row of the table below. A metric without a row still has entities,
/// named after it and without their own icon.
struct MetricEntities {
    /// The metric's name within a sentence.
    var phrase: String
    var icon: String?
    /// The `device_class` in Home Assistant.
    var deviceClass: String?
    /// The first release that knows the class, if older ones are supported: these refuse an entity with an unknown one.
    var deviceClassSince: HomeAssistantVersion?
    /// The sums of its day that have sensors.
    var sums: [DaySum] = []

    /// A sum of a day.
    struct DaySum {
        var key: String
        var name: String
        /// The sum's member in the payload of the day.
        var member: String
        var unit: String
        var deviceClass: String?
        var icon: String?
        /// Whether it starts at zero with each day and adds up over days.
        var isCounter = true
    }

    static let table: [Metric: MetricEntities] = [
        .heartRate: MetricEntities(phrase: "heart rate", icon: "mdi:heart-pulse"),
        .restingHeartRate: MetricEntities(phrase: "resting heart rate", icon: "mdi:heart-pulse"),
        .bloodPressure: MetricEntities(phrase: "blood pressure", deviceClass: "pressure"),
        .bloodOxygen: MetricEntities(phrase: "blood oxygen", icon: "mdi:water-percent"),
        .stress: MetricEntities(phrase: "stress", icon: "mdi:head-cog-outline"),
        .temperature: MetricEntities(phrase: "temperature", deviceClass: "temperature"),
        .steps: MetricEntities(
            phrase: "steps",
            sums: [
                DaySum(key: "steps", name: "Steps today", member: "total", unit: "steps", icon: "mdi:walk"),
                DaySum(
                    key: "distance", name: "Distance today", member: "distance_m", unit: "m", deviceClass: "distance"),
                DaySum(key: "energy", name: "Energy today", member: "energy_kcal", unit: "kcal", deviceClass: "energy"),
            ]),
        .sleep: MetricEntities(
            phrase: "sleep",
            sums: [
                DaySum(
                    key: "sleep", name: "Sleep last night", member: "total", unit: "min", deviceClass: "duration",
                    icon: "mdi:sleep", isCounter: false)
            ]),
        .sport: MetricEntities(phrase: "sport"),
        .battery: MetricEntities(phrase: "battery", deviceClass: "battery"),
        .heartRateVariability: MetricEntities(phrase: "heart rate variability", icon: "mdi:chart-bell-curve"),
        .respiratoryRate: MetricEntities(phrase: "respiratory rate", icon: "mdi:lungs"),
        .skinTemperature: MetricEntities(phrase: "skin temperature", deviceClass: "temperature"),
        .weight: MetricEntities(phrase: "weight", deviceClass: "weight"),
        .bloodGlucose: MetricEntities(
            phrase: "blood glucose", deviceClass: "blood_glucose_concentration",
            deviceClassSince: HomeAssistantVersion(year: 2024, month: 12)),
    ]
}

extension Metric {
    /// The presentation of its entities.
    var entities: MetricEntities {
        MetricEntities.table[self] ?? MetricEntities(phrase: rawValue.replacing("_", with: " "))
    }

    /// The metric's name within a sentence.
    var phrase: String { entities.phrase }

    /// The metric's name by itself.
    var title: String { phrase.capitalizedFirst }
}

extension MonitorSetting {
    /// The setting's name for a person. All names of one metric begin alike, so that Home Assistant lists them
    /// together.
    var title: String {
        switch field {
        case .scheduleEnabled: "\(metric.title) monitoring"
        case .scheduleStart: "\(metric.title) monitoring start"
        case .scheduleEnd: "\(metric.title) monitoring end"
        case .scheduleInterval: "\(metric.title) monitoring interval"
        case .enabled(let group): "\(metric.title) \(group.phrase)"
        case .lower(let subject): "\(metric.title) \(subject.group.phrase) \(subject.prefix)lower limit"
        case .upper(let subject): "\(metric.title) \(subject.group.phrase) \(subject.prefix)upper limit"
        case .exerciseMaximum: "\(metric.title) exercise maximum"
        }
    }
}

extension AlertGroup {
    fileprivate var phrase: String { rawValue.replacing("_", with: " ") }
}

extension AlertRule {
    /// The rule's name for a person. It begins like that of the sensor with its values, so that Home Assistant lists
    /// them together.
    var title: String {
        let what =
            switch subject {
            case .value, .resting: metric.title
            case .exercise: "\(metric.title) in exercise"
            case .systolic, .diastolic: "\(subject.rawValue.capitalizedFirst) pressure"
            }
        return "\(what) \(side.rawValue)"
    }
}

extension AlertRule.Subject {
    fileprivate var prefix: String { self == .systolic || self == .diastolic ? "\(rawValue) " : "" }
}

extension String {
    /// The text with its first letter in upper case.
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
