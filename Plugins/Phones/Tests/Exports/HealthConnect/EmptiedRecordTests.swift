import TestSupport
import Testing
import Vitals

@testable import Phones

/// Records that had a value in an earlier export and have none now, and other corrections downwards.
@Suite struct EmptiedRecordTests {
    private let phone: HealthPhone
    private let store: ConsumedStore

    init() throws {
        phone = try HealthPhone()
        store = try ConsumedStore(.lastReported, device: try #require(DeviceID("watch")))
    }

    /// What a gateway has of a metric after the present export.
    private func held(_ metric: Metric) async throws -> [Double?] {
        try await store.ingest(try phone.open().samples(metric, zone: "UTC", limit: 2, takesBack: true))
        return store.held(metric).map(\.value)
    }

    /// A column of a table with an amount of an interval, and what it becomes.
    struct Case: Sendable, CustomStringConvertible {
        var metric: Metric
        var table: String
        var column: String
        var amount: String
        var value: Double
        var empty = "0"
        var description: String { "\(metric) as \(empty)" }
    }

    @Test(arguments: [
        Case(metric: .steps, table: "steps_record_table", column: "count", amount: "980", value: 980),
        Case(metric: .distance, table: "distance_record_table", column: "distance", amount: "790.5", value: 790.5),
        Case(
            metric: .activeEnergy, table: "active_calories_burned_record_table", column: "energy", amount: "79000",
            value: 79),
        Case(
            metric: .totalEnergy, table: "total_calories_burned_record_table", column: "energy", amount: "79000",
            value: 79, empty: "NULL"),
        Case(metric: .floors, table: "floors_climbed_record_table", column: "floors", amount: "3", value: 3),
        Case(metric: .hydration, table: "hydration_record_table", column: "volume", amount: "0.3", value: 300),
        // The smallest number above 0 stands for nothing.
        Case(
            metric: .protein, table: "nutrition_record_table", column: "protein", amount: "25", value: 25,
            empty: "4.9E-324"),
        Case(
            metric: .carbohydrates, table: "nutrition_record_table", column: "total_carbohydrate", amount: "45.5",
            value: 45.5, empty: "NULL"),
    ])
    func `a count that falls to nothing is 0, and comes again`(example: Case) async throws {
        let (table, column) = (example.table, example.column)
        for (number, hour) in [(1, Int64(8)), (2, 10)] {
            try phone.interval(
                table, number, HealthPhone.ms(hour), HealthPhone.ms(hour + 1), [(column, example.amount)])
        }
        #expect(try await held(example.metric) == [example.value, example.value])
        try phone.run("UPDATE \(table) SET \(column) = \(example.empty), last_modified_time = 2 WHERE row_id = 1")
        for _ in 0..<2 { #expect(try await held(example.metric) == [0, example.value]) }
        // One that was never more stores nothing.
        try phone.interval(table, 3, HealthPhone.ms(12), HealthPhone.ms(13), [(column, example.empty)])
        #expect(try await held(example.metric) == [0, example.value])
        try phone.run(
            "UPDATE \(table) SET \(column) = \(example.amount), last_modified_time = 3 WHERE row_id = 1")
        #expect(try await held(example.metric) == [example.value, example.value])
    }

    @Test func `a count that falls to 0 with another end replaces the one that it was`() async throws {
        try phone.interval("steps_record_table", 1, HealthPhone.ms(8), HealthPhone.ms(9), [("count", "980")])
        #expect(try await held(.steps) == [980])
        try phone.run(
            "UPDATE steps_record_table SET count = 0, end_time = \(HealthPhone.ms(8, 30)), last_modified_time = 2")
        #expect(try await held(.steps) == [0])
        // The row of the export is the same: consumers know it by the times that it had.
        #expect(store.held(.steps).map(\.end) == [HealthPhone.at(9)])
    }

    @Test func `where the watch has no steps any more, those of the phone count`() async throws {
        try phone.interval("steps_record_table", 1, HealthPhone.ms(8), HealthPhone.ms(9), [("count", "980")])
        try phone.interval(
            "steps_record_table", 2, HealthPhone.ms(8), HealthPhone.ms(9), device: 2, [("count", "700")])
        #expect(try await held(.steps) == [980])
        try phone.run("UPDATE steps_record_table SET count = 0, last_modified_time = 2 WHERE row_id = 1")
        for _ in 0..<2 { #expect(try await held(.steps) == [700]) }
    }

    @Test func `a value of a moment that is empty now is withdrawn, and comes again`() async throws {
        for hour in Int64(7)...8 {
            try phone.instant("weight_record_table", Int(hour), at: HealthPhone.ms(hour), [("weight", "71500")])
        }
        #expect(try await held(.weight) == [71.5, 71.5])
        try phone.run("UPDATE weight_record_table SET weight = NULL, last_modified_time = 2 WHERE row_id = 8")
        #expect(try await held(.weight) == [71.5])
        try phone.run("UPDATE weight_record_table SET weight = 71400, last_modified_time = 3 WHERE row_id = 8")
        #expect(try await held(.weight) == [71.5, 71.4])
    }

    @Test func `a new export sends what corrects a count to 0, and no record of nothing of a new day`() throws {
        try phone.interval("steps_record_table", 1, HealthPhone.ms(8), HealthPhone.ms(9), [("count", "980")])
        try phone.interval("steps_record_table", 2, HealthPhone.ms(9), HealthPhone.ms(10), [("count", "20")])
        try phone.simulate { [phone] run in
            try await run.pass(.seconds(80))
            #expect(run.kept.samples(.steps).count == 2 && !run.arrivals.contains { $0.claim == .correction })
            try phone.run("UPDATE steps_record_table SET count = 0, last_modified_time = 2 WHERE row_id = 1")
            try phone.interval("steps_record_table", 3, HealthPhone.ms(32), HealthPhone.ms(33), [("count", "0")])
            try await run.pass(.seconds(80))
            #expect(run.arrivals.filter { $0.claim == .correction }.map(\.start) == [HealthPhone.at(8)])
        }
    }

    /// A night and a workout that the app changes: to an earlier end, to a later begin, and to both.
    @Test(arguments: [(0, 240), (30, 300), (30, 240)] as [(Int64, Int64)])
    func `a night and a workout count with an earlier end or a later begin that the app changed later`(
        from: Int64, to: Int64
    ) async throws {
        let tables = ["sleep_session_record_table", "exercise_session_record_table"]
        func minutes(_ metric: Metric) async throws -> [[Int64]] {
            _ = try await held(metric)
            return store.held(metric).map {
                [
                    ($0.start - HealthPhone.at(0)).inMilliseconds / 60_000,
                    ($0.end - HealthPhone.at(0)).inMilliseconds / 60_000,
                ]
            }
        }
        try phone.interval(tables[0], 1, HealthPhone.ms(0), HealthPhone.ms(5))
        try phone.interval(tables[1], 1, HealthPhone.ms(0), HealthPhone.ms(5), [("exercise_type", "56")])
        for metric in [Metric.sleep, .sport] { #expect(try await minutes(metric) == [[0, 300]]) }
        for table in tables {
            try phone.run(
                """
                UPDATE \(table) SET start_time = \(HealthPhone.ms(0, from)), end_time = \(HealthPhone.ms(0, to)),
                    last_modified_time = 2
                """)
        }
        for metric in [Metric.sleep, .sport] { #expect(try await minutes(metric) == [[from, to]]) }
    }
}
