import GatewayKit
import TestSupport
import Testing
import Vitals

@testable import Phones

/// The ends of what is taken, and what is beyond.
@Suite struct HealthConnectLimitTests {
    private let phone: HealthPhone
    init() throws { phone = try HealthPhone() }

    /// A column of a table, with the least and the greatest value that is a measurement, and values next to them.
    struct Ends: Sendable, CustomStringConvertible {
        var metric: Metric
        var table: String
        var column: String
        var taken: [String]
        var skipped: [String]
        var others: [(String, String)] = []
        var description: String { table }
    }

    @Test(arguments: [
        Ends(
            metric: .restingHeartRate, table: "resting_heart_rate_record_table", column: "beats_per_minute",
            taken: ["20", "254"], skipped: ["19", "255"]),
        Ends(
            metric: .heartRateVariability, table: "heart_rate_variability_rmssd_record_table",
            column: "heart_rate_variability_millis", taken: ["1.0", "200.0"], skipped: ["0.9", "200.1"]),
        Ends(
            metric: .respiratoryRate, table: "respiratory_rate_record_table", column: "rate", taken: ["3.0", "100.0"],
            skipped: ["2.9", "100.1"]),
        Ends(
            metric: .bloodOxygen, table: "oxygen_saturation_record_table", column: "percentage",
            taken: ["1.0", "100.0"],
            skipped: ["0.9", "100.1"]),
        Ends(
            metric: .temperature, table: "body_temperature_record_table", column: "temperature",
            taken: ["25.0", "45.0"], skipped: ["24.9", "45.1"], others: [("measurement_location", "'0'")]),
        Ends(
            metric: .weight, table: "weight_record_table", column: "weight", taken: ["400.0", "650000.0"],
            skipped: ["399.0", "650001.0"]),
        Ends(
            metric: .leanMass, table: "lean_body_mass_record_table", column: "mass", taken: ["300.0", "300000.0"],
            skipped: ["299.0", "300001.0"]),
        Ends(
            metric: .bodyFat, table: "body_fat_record_table", column: "percentage", taken: ["1.0", "90.0"],
            skipped: ["0.9", "90.1"]),
        Ends(
            metric: .height, table: "height_record_table", column: "height", taken: ["0.2", "2.8"],
            skipped: ["0.19", "2.81"]),
        Ends(
            metric: .vo2Max, table: "vo2_max_record_table", column: "vo2_milliliters_per_minute_kilogram",
            taken: ["3.0", "100.0"], skipped: ["2.9", "100.1"]),
        // 0.56 mmol/L is 10.09 mg/dL, and 55.5 are 999.89.
        Ends(
            metric: .bloodGlucose, table: "blood_glucose_record_table", column: "level", taken: ["0.56", "55.5"],
            skipped: ["0.55", "55.6"],
            others: [("specimen_source", "'0'"), ("relation_to_meal", "'0'"), ("meal_type", "'0'")]),
    ])
    func `the ends of each range are measurements, and what is beyond is counted`(ends: Ends) throws {
        for (number, value) in (ends.taken + ends.skipped).enumerated() {
            try phone.instant(
                ends.table, number + 1, at: HealthPhone.ms(8, Int64(number)), [(ends.column, value)] + ends.others)
        }
        let samples = try phone.samples(ends.metric)
        #expect(samples.map(\.start) == [HealthPhone.at(8, 0), HealthPhone.at(8, 1)])
        #expect(samples.allSatisfy { $0.isValid })
        #expect(try phone.open().skippedRows[ends.table]?.values.reduce(0, +) == 2)
    }

    @Test func `a sleep of a day is one, and a longer one is not`() throws {
        for (number, extra) in [(1, Int64(0)), (2, 1)] {
            let start = HealthPhone.ms(Int64(number) * 48)
            let end = start + 86_400_000 + extra
            try phone.interval("sleep_session_record_table", number, start, end)
            try phone.run("INSERT INTO sleep_stages_table VALUES (\(number), \(start), \(end), 4)")
        }
        #expect(try phone.samples(.sleep).map(\.value) == [1440])
        #expect(try phone.open("com.example.watch").skippedRows["sleep_session_record_table"] == [.tooLong: 1])
    }

    @Test func `steps and workouts of a week are taken, and longer ones are not`() throws {
        let week: Int64 = 7 * 86_400_000
        for (number, extra) in [(1, Int64(0)), (2, 1)] {
            let start = HealthPhone.ms(-400) - Int64(number) * 2 * week
            try phone.interval("steps_record_table", number, start, start + week + extra, [("count", "500000")])
            try phone.interval(
                "exercise_session_record_table", number, start, start + week + extra, [("exercise_type", "21")])
        }
        #expect(try phone.samples(.steps).map(\.value) == [500_000])
        #expect(try phone.samples(.sport).map(\.value) == [10_080])
        #expect(
            try phone.open().skippedRows
                == ["steps_record_table": [.implausible: 1], "exercise_session_record_table": [.incomplete: 1]])
    }

    @Test func `a sleep has as many stages as one can have, and no more`() throws {
        try phone.interval("sleep_session_record_table", 1, HealthPhone.ms(0), HealthPhone.ms(24))
        // A stage every 20 seconds, light and deep by turns.
        try phone.run(
            """
            WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 4319)
            INSERT INTO sleep_stages_table SELECT 1, \(HealthPhone.ms(0)) + i * 20000, \(HealthPhone.ms(0)) + (i + 1) * 20000,
                4 + i % 2 FROM n
            """)
        let samples = try phone.samples(.sleep)
        #expect(samples.map(\.value) == [960] && samples.allSatisfy { $0.isValid })
    }

    @Test func `what a day or a sleep of an export has beyond a limit is told to the gateway, with the limit`() throws {
        let (sleeps, workouts, stages) = (
            "sleep_session_record_table", "exercise_session_record_table", "sleep_stages_table"
        )
        func insert(_ numbers: ClosedRange<Int>) throws {
            for number in numbers {
                let start = HealthPhone.ms(1) + 600_000 * Int64(number)
                try phone.interval(sleeps, number, start, start + 60_000)
                try phone.run("INSERT INTO \(stages) VALUES (\(number), \(start), \(start + 60_000), 4)")
                try phone.interval(workouts, number, start, start + 60_000, [("exercise_type", "56")])
            }
        }
        try insert(1...ExerciseFeed.perDay + 1)
        let long = HealthPhone.ms(-48)
        try phone.interval(sleeps, 900, long, HealthPhone.ms(-25))
        try phone.run(
            """
            WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(SampleLimits.stages))
            INSERT INTO \(stages) SELECT 900, \(long) + i * 1000, \(long) + (i + 1) * 1000, 4 + i % 2 FROM n
            """)
        let count = ExerciseFeed.perDay + 1
        try phone.simulate { [phone] run in
            try await run.pass(.seconds(80))
            let first = [
                SkippedValues(reason: "too_many", what: workouts, count: 1, limit: ExerciseFeed.perDay),
                SkippedValues(
                    reason: "too_many", what: sleeps, count: count - NightLimits.perDay, limit: NightLimits.perDay),
                SkippedValues(reason: "too_many", what: stages, count: 1, limit: SampleLimits.stages),
            ]
            #expect(run.skipped == first)
            // The next export has the same ones again, and one more of each day.
            let start = HealthPhone.ms(1) + 600_000 * Int64(count + 1)
            try phone.interval(workouts, count + 1, start, start + 60_000, [("exercise_type", "56")])
            try await run.pass(.seconds(80))
            #expect(
                run.skipped == first + [
                    SkippedValues(reason: "too_many", what: workouts, count: 1, limit: ExerciseFeed.perDay)
                ])
        }
    }

    @Test func `a sleep's stages beyond those that one can have are counted`() throws {
        let (start, count) = (HealthPhone.ms(0), SampleLimits.stages + 3)
        try phone.interval("sleep_session_record_table", 1, start, HealthPhone.ms(24))
        try phone.run(
            """
            WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(count - 1))
            INSERT INTO sleep_stages_table SELECT 1, \(start) + i * 1000, \(start) + (i + 1) * 1000, 4 + i % 2 FROM n
            """)
        #expect(try phone.samples(.sleep).count == 1)
        #expect(try phone.open().skippedRows == ["sleep_stages_table": [.tooMany: 3]])
    }

    @Test func `sleeps and workouts beyond those of any day are counted`() throws {
        let (sleeps, workouts) = ("sleep_session_record_table", "exercise_session_record_table")
        let begin = HealthPhone.ms(1)
        for number in 1...200 {
            // Two minutes apart, so that they are no sessions of one sleep.
            let start = begin + 120_000 * Int64(number)
            try phone.interval(sleeps, number, start, start + 1)
            try phone.run("INSERT INTO sleep_stages_table VALUES (\(number), \(start), \(start + 1), 4)")
            try phone.interval(workouts, number, start, start + 1, [("exercise_type", "56")])
        }
        try phone.interval(sleeps, 201, HealthPhone.ms(30), HealthPhone.ms(31))
        try phone.run("INSERT INTO sleep_stages_table VALUES (201, \(HealthPhone.ms(30)), \(HealthPhone.ms(31)), 4)")
        #expect(try phone.samples(.sleep).count == NightLimits.perDay + 1)
        #expect(try phone.samples(.sport).count == ExerciseFeed.perDay)
        let skipped = try phone.open().skippedRows
        #expect(skipped[sleeps]?[.tooMany] == 200 - NightLimits.perDay)
        #expect(skipped[workouts]?[.tooMany] == 200 - ExerciseFeed.perDay)
    }
}
