import GatewayKit
import TestSupport
import Testing
import Vitals

@testable import Phones

private let oatmeal = [
    ("energy", "350000.0"), ("protein", "25.0"), ("total_carbohydrate", "45.5"), ("total_fat", "10.0"),
    ("meal_name", "'Oatmeal'"),
]

/// What is counted within an interval, with the results worked out by hand.
@Suite struct CountTests {
    private let phone: HealthPhone
    init() throws { phone = try HealthPhone() }

    /// A table with an amount of an interval, what is stored there, and what it means.
    struct Case: Sendable, CustomStringConvertible {
        var metric: Metric
        var table: String
        var columns: [(String, String)]
        var amount: Double
        var description: String { "\(metric) of \(table)" }
    }

    @Test(arguments: [
        Case(metric: .steps, table: "steps_record_table", columns: [("count", "812")], amount: 812),
        Case(metric: .distance, table: "distance_record_table", columns: [("distance", "5420.25")], amount: 5420.25),
        // Calories, of which a thousand are a kilocalorie.
        Case(
            metric: .activeEnergy, table: "active_calories_burned_record_table", columns: [("energy", "312500.0")],
            amount: 312.5),
        Case(
            metric: .totalEnergy, table: "total_calories_burned_record_table", columns: [("energy", "2100000.0")],
            amount: 2100),
        Case(metric: .floors, table: "floors_climbed_record_table", columns: [("floors", "3.5")], amount: 3.5),
        // An hour, moderate and vigorous.
        Case(
            metric: .exerciseMinutes, table: "activity_intensity_record_table", columns: [("type", "0")], amount: 60),
        Case(
            metric: .exerciseMinutes, table: "activity_intensity_record_table", columns: [("type", "1")], amount: 60),
        // 0.3 L.
        Case(metric: .hydration, table: "hydration_record_table", columns: [("volume", "0.3")], amount: 300),
        Case(metric: .dietaryEnergy, table: "nutrition_record_table", columns: oatmeal, amount: 350),
        Case(metric: .protein, table: "nutrition_record_table", columns: oatmeal, amount: 25),
        Case(metric: .carbohydrates, table: "nutrition_record_table", columns: oatmeal, amount: 45.5),
        Case(metric: .fat, table: "nutrition_record_table", columns: oatmeal, amount: 10),
    ])
    func `reads what an interval counts in the unit of its metric`(example: Case) throws {
        try phone.interval(example.table, 1, HealthPhone.ms(8), HealthPhone.ms(9), method: 3, example.columns)
        let samples = try phone.samples(example.metric)
        let increment = try #require(Increment(amount: example.amount))
        #expect(
            samples == [
                Sample(
                    metric: example.metric, start: HealthPhone.at(8), end: HealthPhone.at(9), isUserInitiated: true,
                    reading: .count(increment))
            ])
        #expect(samples.map(\.origin?.name) == ["Example Watch 3"])
        let export = try phone.open()
        #expect(export.skippedRows.isEmpty && export.device.unknownTables.isEmpty)
    }

    @Test func `foods of one time add up, and what a food does not say is nothing`() throws {
        let table = "nutrition_record_table"
        // Android stores the smallest number above 0 for what was not given.
        let none = "4.9E-324"
        try phone.interval(table, 1, HealthPhone.ms(7), HealthPhone.ms(7, 1), oatmeal)
        try phone.interval(
            table, 2, HealthPhone.ms(7), HealthPhone.ms(7, 10),
            [("energy", "95000.0"), ("protein", none), ("total_carbohydrate", "25.1"), ("total_fat", none)])
        // Tea, in no time.
        try phone.interval(
            table, 3, HealthPhone.ms(16), HealthPhone.ms(16),
            [("energy", "5000.0"), ("protein", none), ("total_fat", none)])
        // What the phone has of breakfast is another source's.
        try phone.interval(
            table, 4, HealthPhone.ms(7), HealthPhone.ms(7, 5), device: 2, [("energy", "400000.0"), ("protein", "1")])
        #expect(try phone.samples(.dietaryEnergy).map(\.value) == [445, 400, 5])
        #expect(try phone.samples(.dietaryEnergy).countedOnce.map(\.value) == [445, 5])
        #expect(try phone.samples(.protein).map(\.value) == [25, 1])
        #expect(try phone.samples(.carbohydrates).map(\.value) == [70.6])
        #expect(try phone.samples(.fat).map(\.value) == [10])
        #expect(
            try phone.samples(.dietaryEnergy).map(\.end) == [
                HealthPhone.at(7, 10), HealthPhone.at(7, 5), HealthPhone.at(16),
            ])
        // Carbohydrates of tea, and carbohydrates and fat of the phone, are empty.
        #expect(try phone.open().skippedRows == [table: [.notMeasured: 3]])
    }

    @Test func `a food that is deleted is taken from its meal again`() async throws {
        let store = try ConsumedStore(.lastReported, device: try #require(DeviceID("watch")))
        for (number, energy) in [(1, "350000"), (2, "95000")] {
            try phone.interval(
                "nutrition_record_table", number, HealthPhone.ms(7), HealthPhone.ms(7, 1), [("energy", energy)])
        }
        try await store.ingest(try phone.samples(.dietaryEnergy))
        #expect(store.held(.dietaryEnergy).map(\.value) == [445])
        try phone.run("DELETE FROM nutrition_record_table WHERE row_id = 2")
        try await store.ingest(try phone.samples(.dietaryEnergy))
        #expect(store.held(.dietaryEnergy).map(\.value) == [350])
    }

    @Test func `what nobody counts is counted as skipped, and a count without a length is none of movement`() throws {
        let (start, end) = (HealthPhone.ms(8), HealthPhone.ms(9))
        // 85 m, 3 kcal and half a floor in a second are the most.
        for (table, column, amounts) in [
            ("distance_record_table", "distance", ["306000", "306001", "-1"]),
            ("active_calories_burned_record_table", "energy", ["10800000", "10801000", "'x'"]),
            ("total_calories_burned_record_table", "energy", ["10800000", "10801000", "1e999"]),
            ("floors_climbed_record_table", "floors", ["1800", "1801", "-0.5"]),
            ("hydration_record_table", "volume", ["21", "21.1", "-1"]),
            ("activity_intensity_record_table", "type", ["1", "2", "'x'"]),
        ] {
            for (number, amount) in amounts.enumerated() {
                let hours = Int64(number) * 7_200_000
                try phone.interval(table, number + 1, start + hours, end + hours, [(column, amount)])
            }
            if column != "volume" { try phone.interval(table, 9, start - 1, start - 1, [(column, "1")]) }
        }
        let metrics: [Metric] = [.distance, .activeEnergy, .totalEnergy, .floors, .hydration, .exerciseMinutes]
        let values = try metrics.map { try phone.samples($0).compactMap(\.value) }
        #expect(values == [[306_000], [10_800], [10_800], [1800], [21_000], [60]])
        #expect(
            try phone.open().skippedRows == [
                "distance_record_table": [.implausible: 3],
                "active_calories_burned_record_table": [.implausible: 2, .unreadable: 1],
                "total_calories_burned_record_table": [.implausible: 3],
                "floors_climbed_record_table": [.implausible: 3], "hydration_record_table": [.implausible: 2],
                "activity_intensity_record_table": [.unreadable: 2],
            ])
    }

    @Test func `a distance within a workout has its activity`() throws {
        func workout(_ number: Int, _ hour: Int64, _ type: Int) throws {
            try phone.interval(
                "exercise_session_record_table", number, HealthPhone.ms(hour), HealthPhone.ms(hour + 1),
                [("exercise_type", "\(type)")])
        }
        for (number, type) in [33, 4, 49, 56, 57].enumerated() { try workout(number + 1, Int64(8 + number), type) }
        func distance(_ number: Int, _ hour: Int64, _ from: Int64, _ to: Int64) throws {
            try phone.interval(
                "distance_record_table", number, HealthPhone.ms(hour, from), HealthPhone.ms(hour, to),
                [("distance", "\(number)")])
        }
        // Before the run, over its beginning, in it, to its end; then in each of the others, of which yoga covers no ground.
        try distance(1, 7, 0, 30)
        try distance(2, 7, 50, 70)
        try distance(3, 8, 10, 20)
        try distance(4, 8, 30, 60)
        try distance(5, 9, 0, 60)
        try distance(6, 10, 5, 10)
        try distance(7, 11, 5, 10)
        try distance(8, 12, 5, 10)
        let samples = try phone.samples(.distance)
        #expect(samples.map(\.value) == [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(
            samples.map { $0.qualifiers[.activity] } == [
                nil, nil, "walking_running", "walking_running", "cycling", "swimming", "wheelchair", nil,
            ])
        #expect(samples.allSatisfy { $0.isValid })
    }

    @Test func `a walk that a watch and a phone count counts once`() async throws {
        let store = try ConsumedStore(.lastReported, device: try #require(DeviceID("watch")))
        let counts: [(Metric, String, String, Int)] = [
            (.steps, "steps_record_table", "count", 300), (.distance, "distance_record_table", "distance", 200),
            (.activeEnergy, "active_calories_burned_record_table", "energy", 10_000),
            (.totalEnergy, "total_calories_burned_record_table", "energy", 15_000),
            (.floors, "floors_climbed_record_table", "floors", 1),
        ]
        for (metric, table, column, amount) in counts {
            // The phone has half of it in its first quarter, and more than the watch in the hour after.
            for (number, device, from, to, times) in [
                (1, 1, 0, 30, 10), (2, 2, 0, 15, 6), (3, 2, 10, 30, 12), (4, 2, 30, 90, 2),
            ] as [(Int, Int, Int64, Int64, Int)] {
                try phone.interval(
                    table, number, HealthPhone.ms(8, from), HealthPhone.ms(8, to), device: device,
                    [(column, "\(amount * times)")])
            }
            try await store.ingest(try phone.samples(metric))
            let held = store.held(metric)
            let unit = Double(amount) / (column == "energy" ? 1000 : 1)
            #expect(held.map(\.value) == [10 * unit, 2 * unit])
            #expect(held.map(\.origin?.name) == ["Example Watch 3", "Example Phone 9"])
        }
        #expect(try phone.open().device.notes.last?.contains("Example Watch 3, Example Phone 9.") == true)
    }

    @Test func `a rate and pushes of a wheelchair are no counts, and are named`() throws {
        try phone.instant(
            "basal_metabolic_rate_record_table", 1, at: HealthPhone.ms(8), [("basal_metabolic_rate", "85.0")])
        try phone.interval(
            "wheelchair_pushes_record_table", 1, HealthPhone.ms(8), HealthPhone.ms(9), [("count", "500")])
        let export = try phone.open("com.example.watch")
        #expect(export.device.feeds.isEmpty)
        #expect(
            export.device.unknownTables == ["basal_metabolic_rate_record_table", "wheelchair_pushes_record_table"])
    }
}
