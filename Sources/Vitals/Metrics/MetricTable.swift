import Synchronization

/// The table of all metrics, and lookups derived from it.
package struct MetricTable: Sendable {
    /// The rows, by `Metric.index`.
    package let rows: [MetricDescription]
    let metrics: [Metric]
    let byName: [String: Metric]
    let synchronised: [Metric]
    let monitored: [Metric]

    /// The metric of which a metric holds the resting values, if any, by `Metric.index`.
    let restOf: [Metric?]

    init(_ rows: [MetricDescription]) {
        self.rows = rows
        let metrics = rows.indices.map { Metric(index: $0) }
        let byName = Dictionary(uniqueKeysWithValues: zip(rows.map(\.name), metrics))
        self.metrics = metrics
        self.byName = byName
        let kept = zip(rows, metrics).filter { $0.0.hasHistory }
        synchronised =
            kept.filter { $0.0.shape == .session }.map(\.1) + kept.filter { $0.0.shape != .session }.map(\.1)
        monitored = zip(rows, metrics).filter { $0.0.monitoring != nil }.map(\.1)
        restOf = rows.map { row in row.restOf.flatMap { byName[$0] } }
    }

    /// The table of this process: created at the first use of a metric, and fixed from then on.
    package static let current = MetricTable(standard + additional.withLock { $0 })

    /// Adds rows to the standard ones, before the first use of a metric. Lets a test add a metric to a process of its
    /// own, to prove that a metric needs nothing but its row.
    package static func add(_ rows: [MetricDescription]) { additional.withLock { $0 += rows } }

    private static let additional = Mutex<[MetricDescription]>([])

    /// The metrics of the contract, in the order of the places used by `Metric`, so a new one goes to the end.
    /// `.github/CONTRIBUTING.md`, "A new metric", has all that belongs to one.
    ///
    /// The ranges are deliberately wide: they exclude what a sensor sends without contact (0 or 255 bpm, 20 °C), but
    /// nothing that is merely unusual. Default schedules and limits are the examples from the guide of automatic
    /// monitoring.
    private static let standard: [MetricDescription] = first + counters + bodies + food

    private static let first: [MetricDescription] = [
        MetricDescription(
            "heart_rate", .value, unit: "bpm", range: 20...300, freshness: .minutes(30),
            monitoring: .init(
                from: 480, to: 1440, every: 10, limits: [(.resting, 40...100), (.exercise, 60...180)],
                exerciseMaximum: 190, hysteresis: 5)),
        MetricDescription("resting_heart_rate", .value, unit: "bpm", range: 20...300, restOf: "heart_rate"),
        MetricDescription(
            "blood_pressure", .pressure, unit: "mmHg", range: 20...300,
            // A cuff measures rarely, so one pressure is enough.
            monitoring: .init(
                from: 360, to: 1320, every: 15, limits: [(.systolic, 90...140), (.diastolic, 60...90)], hysteresis: 5,
                count: 1),
            // The mean of both pressures differs by some 7 mmHg from one day of a person to another.
            distinction: .init(spread: 7, drift: 0.2, closeness: 10)),
        MetricDescription(
            "blood_oxygen", .value, unit: "%", range: 0...100, freshness: .hours(24),
            monitoring: .init(from: 0, to: 1440, every: 30, limits: [(.value, 95...100)], hysteresis: 1)),
        MetricDescription(
            "stress", .value, unit: nil, range: 0...100, freshness: .hours(2),
            monitoring: .init(from: 480, to: 1200, every: 20, limits: [(.value, 0...70)], hysteresis: 5)),
        MetricDescription(
            "temperature", .value, unit: "°C", range: 25...45, decimals: 1, freshness: .hours(24),
            monitoring: .init(from: 0, to: 1440, every: 60, limits: [(.value, 36...38)], hysteresis: 0.3)),
        // Up to twice what the fastest runners make in 24 hours.
        MetricDescription(
            "steps", .count, unit: "steps", range: SampleLimits.stepRange,
            highestRate: .init(
                value: SampleLimits.stepRate, distance: SampleLimits.footSpeed, energy: SampleLimits.energyRate),
            hasMovement: true),
        MetricDescription("sleep", .sleep, unit: "min"),
        MetricDescription(
            "sport", .session, unit: "min",
            highestRate: .init(
                distance: SampleLimits.speed, energy: SampleLimits.energyRate, steps: SampleLimits.stepRate)),
        MetricDescription("battery", .value, unit: "%", range: 0...100, hasHistory: false),
        // No limits: a good value of one person is a bad one of another. Health Connect accepts 1 to 200 ms; athletes
        // have more.
        MetricDescription(
            "heart_rate_variability", .value, unit: "ms", range: 1...500, freshness: .hours(24),
            qualifiers: [QualifierDescription(.statistic, ["rmssd", "sdnn"], isDecisive: true)],
            monitoring: .init(from: 0, to: 1440, every: 30)),
        // The limits are where the National Early Warning Score 2 (Royal College of Physicians, 2017) has its highest
        // marks: 8 and less, 25 and more.
        MetricDescription(
            "respiratory_rate", .value, unit: "breaths/min", range: 3...100, decimals: 1, freshness: .hours(24),
            monitoring: .init(from: 0, to: 1440, every: 60, limits: [(.value, 9...24)], hysteresis: 1)),
        // No limits: the skin follows the room and the blanket, so it shows no fever. A difference from a baseline is
        // outside the range.
        MetricDescription(
            "skin_temperature", .value, unit: "°C", range: 15...45, decimals: 1, freshness: .hours(24),
            monitoring: .init(from: 0, to: 1440, every: 60)),
        // From premature babies to the heaviest people.
        MetricDescription(
            "weight", .value, unit: "kg", range: 0.4...650, decimals: 1,
            // Food, drink and clothes make half a kilogram, and the means of two persons within a kilogram have an error each.
            distinction: .init(spread: 0.5, drift: 0.02, closeness: 1.8)),
        // Meters show 10 or 20 to 600 mg/dL; a usual value in mmol/L is below. The limits are the target range of the
        // consensus on time in range (Battelino et al., Diabetes Care 2019). Sensors show a rise or fall of more than 3 mg/dL in
        // a minute as the fastest of their arrows.
        MetricDescription(
            "blood_glucose", .value, unit: "mg/dL", range: 10...1000, freshness: .hours(1),
            qualifiers: [
                QualifierDescription(.meal, ["fasting", "before", "after", "bedtime", "random"]),
                QualifierDescription(
                    .specimen,
                    [
                        "capillary_blood", "venous_blood", "arterial_blood", "whole_blood", "plasma", "serum",
                        "interstitial_fluid", "tears",
                    ]),
            ],
            // A strip is used rarely, so one value is enough.
            monitoring: .init(
                from: 0, to: 1440, every: 5, limits: [(.value, 70...180), (.rate, -3...3)], hysteresis: 5,
                count: 1)),
    ]

    /// What a day adds up. A sample lasts a week at most, and its range is what a person could do in it.
    private static let counters: [MetricDescription] = [
        MetricDescription(
            "distance", .count, unit: "m", range: SampleLimits.distance,
            // Nobody swims as fast as others run. Without an activity it may be any.
            highestRate: .init(
                value: SampleLimits.speed,
                byActivity: ["walking_running": SampleLimits.footSpeed, "swimming": SampleLimits.footSpeed]),
            qualifiers: [
                QualifierDescription(
                    .activity, ["walking_running", "cycling", "swimming", "wheelchair"], isSeparate: true)
            ]),
        // Beyond rest, and all of it.
        MetricDescription(
            "active_energy", .count, unit: "kcal", range: SampleLimits.energy,
            highestRate: .init(value: SampleLimits.energyRate)),
        MetricDescription(
            "total_energy", .count, unit: "kcal", range: SampleLimits.energy,
            highestRate: .init(value: SampleLimits.energyRate)),
        MetricDescription(
            "basal_energy", .count, unit: "kcal", range: SampleLimits.energy,
            highestRate: .init(value: SampleLimits.basalRate)),
        // One floor is about 3 m. The record of 12 hours on stairs is 13,146 m (Christian Riedl, Frankfurt 2014), which
        // would be 61,000 floors in a week.
        MetricDescription(
            "floors", .count, unit: "floors", range: 0...65_000, highestRate: .init(value: SampleLimits.floorRate)),
        // The minutes and the hours of a week.
        MetricDescription(
            "exercise_minutes", .count, unit: "min", range: 0...10_080,
            highestRate: .init(value: SampleLimits.exerciseRate, step: .minutes(1))),
        MetricDescription(
            "stand_hours", .count, unit: "h", range: 0...168,
            highestRate: .init(value: SampleLimits.standRate, further: SampleLimits.furtherHours, step: .hours(1))),
        // Kidneys excrete at most about 20 L a day.
        MetricDescription(
            "hydration", .count, unit: "mL", range: 0...150_000,
            highestRate: .init(value: SampleLimits.drinkRate, further: SampleLimits.drink)),
    ]

    /// Values of the body and its surroundings.
    private static let bodies: [MetricDescription] = [
        // The highest that was measured is 96.7 (a cyclist of 18 years, Rønnestad et al., J Appl Physiol 2019); the lowest of
        // people who walk into a laboratory, with a failing heart, is about 5.
        MetricDescription("vo2_max", .value, unit: "mL/(kg·min)", range: 3...100, decimals: 1),
        // Essential fat is 2 to 5 % of a man, and nobody is fat alone.
        MetricDescription("body_fat", .value, unit: "%", range: 1...90, decimals: 1),
        // Of the same people as weight.
        MetricDescription("lean_mass", .value, unit: "kg", range: 0.3...300, decimals: 1),
        // From premature babies to Robert Wadlow, 272 cm (Guinness World Records).
        MetricDescription("height", .value, unit: "cm", range: 20...280, decimals: 1),
        // From premature babies to Jon Minnoch, 635 kg at 185 cm (Guinness World Records).
        MetricDescription("body_mass_index", .value, unit: "kg/m²", range: 5...210, decimals: 1),
        // How far the heart rate falls in the first minute after exercise; a median is 17, and 12 is little (Cole et al., NEJM
        // 1999). It cannot fall by more than from the highest rate to rest.
        MetricDescription("heart_rate_recovery", .value, unit: "bpm", range: 0...200),
        MetricDescription("walking_heart_rate", .value, unit: "bpm", range: 20...300),
        // A sound of 194 dB leaves nothing between the waves of its pressure.
        MetricDescription("noise_exposure", .value, unit: "dBA", range: 0...194, decimals: 1, freshness: .hours(24)),
    ]

    /// What a person eats in a sample's time, at most a week: several times the 10,000 kcal a day of the hardest races, and
    /// what would have that energy (4 kcal a gram of protein or carbohydrate, 9 of fat).
    private static let food: [MetricDescription] = [
        MetricDescription(
            "dietary_energy", .count, unit: "kcal", range: 0...200_000,
            highestRate: .init(value: SampleLimits.mealRate, further: SampleLimits.meal)),
        MetricDescription("protein", .count, unit: "g", range: 0...50_000, decimals: 1),
        MetricDescription("carbohydrates", .count, unit: "g", range: 0...50_000, decimals: 1),
        MetricDescription("fat", .count, unit: "g", range: 0...22_000, decimals: 1),
    ]
}
