import Testing
import Vitals

@testable import Phones

/// Numbers, with the results worked out by hand.
@Suite struct ValueTests {
    private let phone: HealthPhone
    init() throws { phone = try HealthPhone() }

    /// A table with a value of a moment, what is stored there, and what it means.
    struct Case: Sendable, CustomStringConvertible {
        var metric: Metric
        var table: String
        var columns: [(String, String)]
        var value: Double
        var qualifiers: [Qualifier: String] = [:]
        var description: String { table }
    }

    @Test(arguments: [
        Case(
            metric: .restingHeartRate, table: "resting_heart_rate_record_table", columns: [("beats_per_minute", "52")],
            value: 52),
        Case(
            metric: .heartRateVariability, table: "heart_rate_variability_rmssd_record_table",
            columns: [("heart_rate_variability_millis", "40.9")], value: 40.9, qualifiers: [.statistic: "rmssd"]),
        Case(
            metric: .respiratoryRate, table: "respiratory_rate_record_table", columns: [("rate", "14.6")], value: 14.6),
        Case(
            metric: .bloodOxygen, table: "oxygen_saturation_record_table", columns: [("percentage", "97.0")], value: 97),
        Case(
            metric: .temperature, table: "body_temperature_record_table",
            columns: [("temperature", "36.7"), ("measurement_location", "'4'")], value: 36.7),
        // 64,000 g.
        Case(metric: .weight, table: "weight_record_table", columns: [("weight", "64000.0")], value: 64),
        Case(
            metric: .temperature, table: "basal_body_temperature_record_table",
            columns: [("temperature", "36.4"), ("measurement_location", "4")], value: 36.4),
        // 61,500 g.
        Case(metric: .leanMass, table: "lean_body_mass_record_table", columns: [("mass", "61500.0")], value: 61.5),
        Case(metric: .bodyFat, table: "body_fat_record_table", columns: [("percentage", "20.8")], value: 20.8),
        // 1.78 m.
        Case(metric: .height, table: "height_record_table", columns: [("height", "1.78")], value: 178),
        Case(
            metric: .vo2Max, table: "vo2_max_record_table",
            columns: [("vo2_milliliters_per_minute_kilogram", "48.2"), ("measurement_method", "0")], value: 48.2),
        // 5.5 mmol/L times 18.016 is 99.088 mg/dL.
        Case(
            metric: .bloodGlucose, table: "blood_glucose_record_table",
            columns: [("level", "5.5"), ("specimen_source", "'2'"), ("relation_to_meal", "'3'"), ("meal_type", "'0'")],
            value: 99.09, qualifiers: [.specimen: "capillary_blood", .meal: "before"]),
        // A code that does not exist, and the one for unknown.
        Case(
            metric: .bloodGlucose, table: "blood_glucose_record_table",
            columns: [("level", "10"), ("specimen_source", "'9'"), ("relation_to_meal", "'0'"), ("meal_type", "'1'")],
            value: 180.16),
    ])
    func `reads a value of a moment in the unit of its metric`(example: Case) throws {
        try phone.instant(example.table, 1, at: HealthPhone.ms(8), example.columns)
        let samples = try phone.samples(example.metric)
        #expect(
            samples == [
                Sample(
                    metric: example.metric, start: HealthPhone.at(8), qualifiers: example.qualifiers,
                    reading: .value(example.value))
            ])
        #expect(samples.allSatisfy { $0.isValid })
        let export = try phone.open()
        #expect(export.skippedRows.isEmpty && export.device.unknownTables.isEmpty)
    }

    @Test func `reads both blood pressures`() throws {
        let where_ = [("measurement_location", "'1'"), ("body_position", "'2'")]
        try phone.instant(
            "blood_pressure_record_table", 1, at: HealthPhone.ms(8), method: 3,
            [("systolic", "125.0"), ("diastolic", "68.0")] + where_)
        try phone.instant(
            "blood_pressure_record_table", 2, at: HealthPhone.ms(9),
            [("systolic", "60.0"), ("diastolic", "60.0")] + where_)
        #expect(
            try phone.samples(.bloodPressure) == [
                Sample(
                    metric: .bloodPressure, start: HealthPhone.at(8), isUserInitiated: true,
                    reading: .bloodPressure(BloodPressure(systolic: 125, diastolic: 68)))
            ])
        #expect(try phone.open().skippedRows == ["blood_pressure_record_table": [.implausible: 1]])
    }

    @Test(arguments: [(0, false), (1, true), (2, false), (3, true), (4, false)])
    func `a person recorded what was recorded actively or entered by hand`(method: Int, isManual: Bool) throws {
        try phone.instant(
            "oxygen_saturation_record_table", 1, at: HealthPhone.ms(8), method: method, [("percentage", "97")])
        #expect(try phone.samples(.bloodOxygen).map(\.isUserInitiated) == [isManual])
    }

    @Test func `what is empty was not measured, and what is no number cannot be read`() throws {
        for (number, weight) in ["NULL", "'heavy'", "64000"].enumerated() {
            try phone.instant("weight_record_table", number, at: HealthPhone.ms(8), [("weight", weight)])
        }
        try phone.interval("steps_record_table", 1, HealthPhone.ms(8), HealthPhone.ms(9), [("count", "NULL")])
        try phone.instant(
            "blood_pressure_record_table", 1, at: HealthPhone.ms(8),
            [("systolic", "125"), ("diastolic", "NULL"), ("measurement_location", "'1'"), ("body_position", "'2'")])
        #expect(try phone.samples(.weight).map(\.value) == [64])
        #expect(
            try phone.open().skippedRows == [
                "weight_record_table": [.notMeasured: 1, .unreadable: 1], "steps_record_table": [.notMeasured: 1],
                "blood_pressure_record_table": [.notMeasured: 1],
            ])
    }

    @Test func `reads the values of a series, also those of several records in between each other`() throws {
        try phone.interval("heart_rate_record_table", 1, HealthPhone.ms(8), HealthPhone.ms(9))
        try phone.interval("heart_rate_record_table", 2, HealthPhone.ms(8), HealthPhone.ms(9), method: 1)
        try phone.run(
            """
            INSERT INTO heart_rate_record_series_table VALUES (1, 61, \(HealthPhone.ms(8))), (1, 64, \(HealthPhone.ms(8, 2))),
                (2, 63, \(HealthPhone.ms(8, 1, 30))), (1, 62, \(HealthPhone.ms(8, 1))), (1, 0, \(HealthPhone.ms(8, 3))),
                (1, 301, \(HealthPhone.ms(8, 4))), (1, 'x', \(HealthPhone.ms(8, 5))), (99, 70, \(HealthPhone.ms(8, 6)))
            """)
        let samples = try phone.samples(.heartRate)
        #expect(samples.map(\.value) == [61, 62, 63, 64])
        #expect(
            samples.map(\.start) == [
                HealthPhone.at(8), HealthPhone.at(8, 1), HealthPhone.at(8, 1, 30), HealthPhone.at(8, 2),
            ])
        #expect(samples.map(\.isUserInitiated) == [false, false, true, false])
        #expect(
            try phone.open().skippedRows
                == ["heart_rate_record_series_table": [.notMeasured: 1, .implausible: 1, .unreadable: 1]])
    }

    @Test func `a skin temperature is its baseline with the difference, and nothing without a baseline`() throws {
        func record(_ number: Int, _ baseline: String) throws {
            try phone.interval(
                "skin_temperature_record_table", number, HealthPhone.ms(1), HealthPhone.ms(2),
                [("measurement_location", "3"), ("baseline", baseline)])
        }
        try record(1, "33.2")
        try record(2, "NULL")
        try record(3, "0.0")
        try phone.run(
            """
            INSERT INTO skin_temperature_delta_table VALUES (1, 0.1, \(HealthPhone.ms(1))), (1, -0.4, \(HealthPhone.ms(1, 1))),
                (2, 0.3, \(HealthPhone.ms(1, 2))), (3, 33.0, \(HealthPhone.ms(1, 3))), (1, 20, \(HealthPhone.ms(1, 4)))
            """)
        #expect(try phone.samples(.skinTemperature).map(\.value) == [33.3, 32.8])
        #expect(
            try phone.open().skippedRows == ["skin_temperature_delta_table": [.incomplete: 2, .implausible: 1]])
    }

    @Test func `a table of a newer version with other columns is skipped and named`() throws {
        try phone.run("ALTER TABLE weight_record_table RENAME COLUMN weight TO mass")
        try phone.instant("weight_record_table", 1, at: HealthPhone.ms(8), [("mass", "64000")])
        try phone.instant("bone_mass_record_table", 1, at: HealthPhone.ms(8), [("mass", "3200")])
        let export = try phone.open("com.example.watch")
        #expect(export.device.feeds.isEmpty)
        #expect(export.device.unknownTables == ["bone_mass_record_table", "weight_record_table"])
    }
}
