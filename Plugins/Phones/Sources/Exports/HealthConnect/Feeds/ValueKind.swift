import Vitals

/// A kind of record with one number at a moment: a row here is all that such a table needs.
///
/// The units are those that Android stores, which are not always those of its interface.
struct ValueKind: Sendable {
    let metric: Metric
    let table: String
    let column: String
    /// The values that are measurements; `nil` for those of the metric.
    var range: ClosedRange<Double>?
    /// The value in the unit of the metric.
    var convert: @Sendable (Double) -> Double = { $0 }
    /// What is true of all records.
    var qualifiers: [Qualifier: String] = [:]
    /// Columns of codes, with the word of each.
    var words: [(column: String, qualifier: Qualifier, words: [Int64: String])] = []

    /// Milligrams per decilitre in a millimole per litre of glucose.
    private static let glucosePerMillimole = 18.016

    static let all: [ValueKind] = [
        ValueKind(
            metric: .restingHeartRate, table: "resting_heart_rate_record_table", column: "beats_per_minute",
            range: ValidRange.heartRate),
        ValueKind(
            metric: .heartRateVariability, table: "heart_rate_variability_rmssd_record_table",
            column: "heart_rate_variability_millis", range: ValidRange.variability,
            qualifiers: [.statistic: "rmssd"]),
        ValueKind(
            metric: .respiratoryRate, table: "respiratory_rate_record_table", column: "rate",
            range: ValidRange.respiratoryRate),
        ValueKind(
            metric: .bloodOxygen, table: "oxygen_saturation_record_table", column: "percentage",
            range: ValidRange.bloodOxygen),
        ValueKind(
            metric: .temperature, table: "body_temperature_record_table", column: "temperature",
            range: ValidRange.temperature),
        ValueKind(
            metric: .temperature, table: "basal_body_temperature_record_table", column: "temperature",
            range: ValidRange.temperature),
        // Stored in grams.
        ValueKind(
            metric: .weight, table: "weight_record_table", column: "weight", range: ValidRange.weight,
            convert: { $0 / 1000 }),
        ValueKind(
            metric: .leanMass, table: "lean_body_mass_record_table", column: "mass", convert: { $0 / 1000 }),
        ValueKind(metric: .bodyFat, table: "body_fat_record_table", column: "percentage"),
        // Stored in metres.
        ValueKind(
            metric: .height, table: "height_record_table", column: "height", convert: { ($0 * 100).hundredths }),
        ValueKind(metric: .vo2Max, table: "vo2_max_record_table", column: "vo2_milliliters_per_minute_kilogram"),
        // Stored in mmol/L.
        ValueKind(
            metric: .bloodGlucose, table: "blood_glucose_record_table", column: "level", range: ValidRange.glucose,
            convert: { ($0 * glucosePerMillimole).hundredths },
            words: [
                ("relation_to_meal", .meal, [1: "random", 2: "fasting", 3: "before", 4: "after"]),
                (
                    "specimen_source", .specimen,
                    [
                        1: "interstitial_fluid", 2: "capillary_blood", 3: "plasma", 4: "serum", 5: "tears",
                        6: "whole_blood",
                    ]
                ),
            ]),
    ]

    /// Its values; `nil` if there are none.
    func feed(_ source: RecordSource) throws(ExportError) -> RowFeed? {
        guard let records = try source.records(table, with: Set([column] + words.map(\.column))) else { return nil }
        // Codes are stored as text.
        let codes = words.map { "CAST(r.\($0.column) AS INTEGER)" }
        let range = range ?? metric.range
        return records.feed(metric, ["r.\(column)"] + codes) { row, isManual in
            let isValid = row.number(0).map { range?.contains(convert($0)) ?? true } ?? false
            if row.isNull(0) || row.number(0) == 0 && !isValid {
                return .notMeasured(metric, at: row.moment, isUserInitiated: isManual, qualifiers: self.qualifiers)
            }
            guard let value = row.number(0).map(convert) else { return .skipped(.unreadable) }
            guard isValid else { return .skipped(.implausible) }
            var qualifiers = self.qualifiers
            for (index, kind) in words.enumerated() {
                qualifiers[kind.qualifier] = row.integer(index + 1).flatMap { kind.words[$0] }
            }
            return .sample(
                Sample(
                    metric: metric, start: row.moment, isUserInitiated: isManual, qualifiers: qualifiers,
                    reading: .value(value)))
        }
    }
}

extension Double {
    /// The same in hundredths: a product or a sum has no more digits than that.
    var hundredths: Double { (self * 100).rounded() / 100 }
}
