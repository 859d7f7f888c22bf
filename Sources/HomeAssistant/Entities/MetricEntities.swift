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
    /// The sums of its day that have sensors; without one, a counter has its total, by the class and icon above.
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
        // Steps have a distance and an energy of their own, which are named after nothing.
        .distance: MetricEntities(
            phrase: "distance of all activities", icon: "mdi:map-marker-distance", deviceClass: "distance"),
        .activeEnergy: MetricEntities(phrase: "active energy", icon: "mdi:fire", deviceClass: "energy"),
        .totalEnergy: MetricEntities(phrase: "total energy", icon: "mdi:fire-circle", deviceClass: "energy"),
        .basalEnergy: MetricEntities(phrase: "basal energy", icon: "mdi:sofa-single", deviceClass: "energy"),
        .floors: MetricEntities(phrase: "floors", icon: "mdi:stairs-up"),
        .exerciseMinutes: MetricEntities(phrase: "exercise", icon: "mdi:run", deviceClass: "duration"),
        .standHours: MetricEntities(phrase: "stand hours", icon: "mdi:human-handsup", deviceClass: "duration"),
        .hydration: MetricEntities(phrase: "hydration", icon: "mdi:cup-water", deviceClass: "volume"),
        .vo2Max: MetricEntities(phrase: "VO₂ max", icon: "mdi:lungs"),
        .bodyFat: MetricEntities(phrase: "body fat", icon: "mdi:percent"),
        .leanMass: MetricEntities(phrase: "lean mass", deviceClass: "weight"),
        .height: MetricEntities(phrase: "height", icon: "mdi:human-male-height", deviceClass: "distance"),
        .bodyMassIndex: MetricEntities(phrase: "body mass index", icon: "mdi:human"),
        .heartRateRecovery: MetricEntities(phrase: "heart rate recovery", icon: "mdi:heart-minus"),
        .walkingHeartRate: MetricEntities(phrase: "walking heart rate", icon: "mdi:heart-pulse"),
        .noiseExposure: MetricEntities(
            phrase: "noise exposure", icon: "mdi:ear-hearing", deviceClass: "sound_pressure"),
        .dietaryEnergy: MetricEntities(phrase: "dietary energy", icon: "mdi:food-apple", deviceClass: "energy"),
        // Not the class of weight: it allows no totals.
        .protein: MetricEntities(phrase: "protein", icon: "mdi:food-drumstick"),
        .carbohydrates: MetricEntities(phrase: "carbohydrates", icon: "mdi:bread-slice"),
        .fat: MetricEntities(phrase: "fat", icon: "mdi:oil"),
    ]
}

extension Metric {
    /// The presentation of its entities.
    var entities: MetricEntities {
        MetricEntities.table[self] ?? MetricEntities(phrase: rawValue.replacing("_", with: " "))
    }

    /// The sums of its day that have sensors.
    var daySums: [MetricEntities.DaySum] {
        let entities = entities
        guard entities.sums.isEmpty, shape == .count else { return entities.sums }
        return [
            MetricEntities.DaySum(
                key: "\(rawValue)_today", name: "\(title) today", member: "total", unit: unit ?? "",
                deviceClass: entities.deviceClass, icon: entities.icon)
        ]
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
            case .rate: "\(metric.title) rate"
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
