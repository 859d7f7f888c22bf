import GatewayKit
import TestSupport
import Testing
import Vitals

@testable import Phones

/// Steps, nights and workouts, with the results worked out by hand.
@Suite struct SessionTests {
    private let phone: HealthPhone
    init() throws { phone = try HealthPhone() }

    @Test func `steps are those of their interval`() throws {
        let table = "steps_record_table"
        try phone.interval(table, 1, HealthPhone.ms(8), HealthPhone.ms(8, 15), [("count", "812")])
        try phone.interval(table, 2, HealthPhone.ms(9), HealthPhone.ms(9, 15), [("count", "0")])
        try phone.interval(table, 3, HealthPhone.ms(10), HealthPhone.ms(10), [("count", "5")])
        try phone.interval(table, 4, HealthPhone.ms(11), HealthPhone.ms(12), [("count", "500001")])
        try phone.interval(table, 5, HealthPhone.ms(-200), HealthPhone.ms(-31), [("count", "9")])
        #expect(
            try phone.samples(.steps) == [
                Sample(
                    metric: .steps, start: HealthPhone.at(8), end: HealthPhone.at(8, 15),
                    reading: .count(Increment(count: 812)))
            ])
        #expect(try phone.open().skippedRows == [table: [.implausible: 3]])
    }

    @Test func `a night has its stages, and one without stages is asleep`() throws {
        let table = "sleep_session_record_table"
        try phone.interval(table, 1, HealthPhone.ms(-1), HealthPhone.ms(6))
        try phone.interval(table, 2, HealthPhone.ms(13), HealthPhone.ms(14))
        try phone.interval(table, 3, HealthPhone.ms(15), HealthPhone.ms(40))
        // A stage of an unknown depth, an unknown stage, and one that touches the one before with the same meaning. A nap of three
        // minutes has no stage at all, another one only that of a moment out of bed.
        try phone.interval(table, 4, HealthPhone.ms(12), HealthPhone.ms(12, 3))
        try phone.interval(table, 5, HealthPhone.ms(12, 30), HealthPhone.ms(12, 40))
        try phone.run(
            """
            INSERT INTO sleep_stages_table VALUES (1, \(HealthPhone.ms(0)), \(HealthPhone.ms(1)), 5),
                (1, \(HealthPhone.ms(-1)), \(HealthPhone.ms(0)), 4), (1, \(HealthPhone.ms(1)), \(HealthPhone.ms(2)), 6),
                (1, \(HealthPhone.ms(2)), \(HealthPhone.ms(2, 10)), 7), (1, \(HealthPhone.ms(2, 10)), \(HealthPhone.ms(2, 20)), 3),
                (1, \(HealthPhone.ms(2, 20)), \(HealthPhone.ms(2, 30)), 1), (1, \(HealthPhone.ms(3)), \(HealthPhone.ms(4)), 2),
                (1, \(HealthPhone.ms(4)), \(HealthPhone.ms(5)), 0), (1, \(HealthPhone.ms(5)), \(HealthPhone.ms(6)), 4),
                (5, \(HealthPhone.ms(12, 30)), \(HealthPhone.ms(12, 32)), 3),
                (2, \(HealthPhone.ms(13)), \(HealthPhone.ms(14)), 2), (3, \(HealthPhone.ms(15)), \(HealthPhone.ms(16)), 4)
            """)
        func stage(_ depth: Sleep.Stage.Depth, _ from: Timestamp, _ to: Timestamp) -> Sleep.Stage {
            Sleep.Stage(depth, from: from, to: to)
        }
        let at = HealthPhone.at
        let night = Sleep(stages: [
            stage(.light, at(-1, 0, 0), at(0, 0, 0)), stage(.deep, at(0, 0, 0), at(1, 0, 0)),
            stage(.rem, at(1, 0, 0), at(2, 0, 0)), stage(.awake, at(2, 0, 0), at(2, 30, 0)),
            stage(.asleep, at(3, 0, 0), at(4, 0, 0)), stage(.light, at(5, 0, 0), at(6, 0, 0)),
        ])
        func nap(_ start: Timestamp, _ end: Timestamp, awake: Timestamp? = nil) -> Sample {
            let asleep = stage(.asleep, awake ?? start, end)
            let stages = (awake.map { [stage(.awake, start, $0)] } ?? []) + [asleep]
            return Sample(metric: .sleep, start: start, end: end, reading: .sleep(Sleep(stages: stages)))
        }
        let samples = try phone.samples(.sleep)
        #expect(
            samples == [
                Sample(metric: .sleep, start: at(-1, 0, 0), end: at(6, 0, 0), reading: .sleep(night)),
                nap(at(12, 0, 0), at(12, 3, 0)), nap(at(12, 30, 0), at(12, 40, 0), awake: at(12, 32, 0)),
                nap(at(13, 0, 0), at(14, 0, 0)),
            ])
        #expect(samples.map(\.value) == [300, 3, 8, 60] && samples.allSatisfy { $0.isValid })
        #expect(
            try phone.open().skippedRows == [table: [.tooLong: 1], "sleep_stages_table": [.unknownCode: 1]])
    }

    @Test(arguments: [false, true])
    func `a night that an app writes with stages and without counts with them`(areSessions: Bool) throws {
        let table = "sleep_session_record_table"
        let (start, end) = (HealthPhone.ms(-1), HealthPhone.ms(7))
        // Without stages, with one of an unknown depth, and with those of 15 minutes, maybe as a session each: in the order of the rows
        // before, between and behind.
        try phone.interval(table, 1, start, end)
        if areSessions {
            try insertStages(32, pause: 0, from: start, first: 2)
        } else {
            try phone.interval(table, 2, start, end)
            for number in 0..<32 {
                let from = start + Int64(number) * 900_000
                let values = "(2, \(from), \(from + 900_000), \(4 + number % 3))"
                try phone.run("INSERT INTO sleep_stages_table VALUES \(values)")
            }
        }
        try phone.interval(table, 90, start, end)
        if !areSessions {
            try phone.interval(table, 91, start, end)
            try phone.run("INSERT INTO sleep_stages_table VALUES (91, \(start), \(end), 2)")
        }
        let samples = try phone.samples(.sleep)
        #expect(samples.map(\.value) == [480])
        guard case .sleep(let sleep)? = samples.first?.reading else { return }
        #expect(sleep.stages.count == 32 && sleep.detail == .stages)
    }

    /// Sessions one after the other, each with one stage, and a pause after each.
    private func insertStages(
        _ count: Int, pause: Int64, minutes: Int64 = 15, codes: [Int] = [4, 5, 6],
        from first: Int64 = HealthPhone.ms(-2), first row: Int = 1
    ) throws {
        var start = first
        for number in row..<row + count {
            let end = start + minutes * 60_000
            try phone.interval("sleep_session_record_table", number, start, end)
            let code = codes[number % codes.count]
            try phone.run("INSERT INTO sleep_stages_table VALUES (\(number), \(start), \(end), \(code))")
            start = end + pause
        }
    }

    @Test(arguments: [Int64(0), 1, 60_000]) func `a night that an app writes as a session for each stage is one sleep`(
        pause: Int64
    ) throws {
        try insertStages(33, pause: pause)
        let samples = try phone.samples(.sleep)
        #expect(samples.count == 1 && samples.first?.value == 33 * 15)
        #expect(samples.first?.start == HealthPhone.at(-2))
        #expect(samples.first?.end == HealthPhone.at(-2) + .milliseconds(33 * 900_000 + 32 * pause))
        guard case .sleep(let sleep)? = samples.first?.reading else { return }
        #expect(sleep.stages.count == 33)
        #expect(samples.allSatisfy { $0.isValid })
        #expect(try phone.open().skippedRows.isEmpty)
    }

    @Test func `a stage of unknown depth does not cut the night that it lies in`() throws {
        try insertStages(5, pause: 0, codes: [2, 4, 5])
        let samples = try phone.samples(.sleep)
        #expect(samples.map(\.value) == [75])
        #expect(samples.first?.end == HealthPhone.at(-2) + .minutes(75))
    }

    @Test func `sessions of two devices that lie between each other are a night of each, of which one counts`() throws {
        for number in 0..<10 {
            for device in 1...2 {
                let (row, start) = (number * 2 + device, HealthPhone.ms(0, Int64(number * 20 + device * 5)))
                try phone.interval("sleep_session_record_table", row, start, start + 1_200_000, device: device)
                try phone.run("INSERT INTO sleep_stages_table VALUES (\(row), \(start), \(start + 1_200_000), 4)")
            }
        }
        // That of the second one ends later.
        let samples = try phone.samples(.sleep)
        #expect(samples.map(\.value) == [200] && samples.first?.start == HealthPhone.at(0, 10))
    }

    @Test func `of two forms of a night or workout the one changed later counts`()
        async throws
    {
        for metric in [Metric.sleep, .sport] {
            let table = metric == .sleep ? "sleep_session_record_table" : "exercise_session_record_table"
            let phone = try HealthPhone()
            for (row, minutes) in [(1, Int64(60)), (2, 50)] {
                let end = HealthPhone.ms(1, minutes)
                let type = metric == .sport ? [("exercise_type", "33")] : []
                try phone.interval(table, row, HealthPhone.ms(1), end, type)
                try phone.run("INSERT INTO sleep_stages_table VALUES (\(row), \(HealthPhone.ms(1)), \(end), 4)")
            }
            func exported(_ row: Int, changedAt time: Int64) throws -> [Sample] {
                try phone.run("UPDATE \(table) SET last_modified_time = \(time) WHERE row_id = \(row)")
                return try phone.samples(metric)
            }
            #expect(try exported(1, changedAt: 5).map(\.value) == [60])
            let newer = try exported(2, changedAt: HealthPhone.ms(9))
            #expect(newer.map(\.value) == [50] && newer.map(\.changedAt) == [HealthPhone.at(9)])
            let newest = try exported(1, changedAt: HealthPhone.ms(10))
            #expect(newest.map(\.value) == [60])
            // In a store the times count, too, whichever export comes first.
            for order in [[newer, newest], [newest, newer]] {
                let store = try ConsumedStore(.lastReported, device: try #require(DeviceID("watch")))
                for samples in order { try await store.ingest(samples) }
                #expect(store.held(metric) == newest)
            }
        }
    }

    @Test func `sessions that do not touch are sleeps of their own`() throws {
        try insertStages(10, pause: 60_001)
        #expect(try phone.samples(.sleep).map(\.value) == Array(repeating: 15, count: 10))
    }

    @Test func `a workout has what lies within it`() throws {
        let table = "exercise_session_record_table"
        try phone.interval(table, 1, HealthPhone.ms(8), HealthPhone.ms(9), method: 1, [("exercise_type", "33")])
        try phone.interval(table, 2, HealthPhone.ms(20), HealthPhone.ms(20, 30), [("exercise_type", "62")])
        func amount(
            _ table: String, _ number: Int, _ from: Int64, _ to: Int64, device: Int = 1, _ column: String,
            _ value: String
        )
            throws
        {
            try phone.interval(
                table, number, HealthPhone.ms(8, from), HealthPhone.ms(8, to), device: device, [(column, value)])
        }
        // The first begins before the workout, the fourth is the same metres by the phone, the last ends after the workout.
        try amount("distance_record_table", 1, -10, 10, "distance", "900")
        try amount("distance_record_table", 2, 0, 30, "distance", "2500.5")
        try amount("distance_record_table", 3, 30, 59, "distance", "2400.25")
        try amount("distance_record_table", 4, 1, 29, device: 2, "distance", "2300")
        try amount("distance_record_table", 5, 59, 61, "distance", "70")
        // Calories, of which a thousand are a kilocalorie.
        try amount("active_calories_burned_record_table", 1, 0, 60, "energy", "310500.0")
        try amount("total_calories_burned_record_table", 1, 0, 60, "energy", "400000.0")
        try amount("steps_record_table", 1, 0, 30, "count", "2600")
        try amount("steps_record_table", 2, 30, 60, "count", "2500")
        try phone.interval("heart_rate_record_table", 1, HealthPhone.ms(7), HealthPhone.ms(10))
        try phone.run(
            """
            INSERT INTO heart_rate_record_series_table VALUES (1, 60, \(HealthPhone.ms(7))), (1, 120, \(HealthPhone.ms(8))),
                (1, 150, \(HealthPhone.ms(8, 20))), (1, 140, \(HealthPhone.ms(8, 40))), (1, 0, \(HealthPhone.ms(8, 41))),
                (1, 70, \(HealthPhone.ms(9)))
            """)
        let samples = try phone.samples(.sport)
        #expect(
            samples.map(\.reading) == [
                .sport(
                    Sport(
                        activity: "running", distance: 4900.75, energy: 310.5, steps: 5100, minimumHeartRate: 120,
                        averageHeartRate: 136.67, maximumHeartRate: 150)),
                .sport(Sport(activity: "type_62")),
            ])
        #expect(samples.map(\.value) == [60, 30] && samples.map(\.isUserInitiated) == [true, false])
        #expect(samples.allSatisfy { $0.isValid })
        #expect(try phone.open().device.unknownTables.isEmpty)
    }

    @Test func `total calories count where there are no active ones, and a workout has a length`() throws {
        let table = "exercise_session_record_table"
        try phone.interval(table, 1, HealthPhone.ms(8), HealthPhone.ms(9), [("exercise_type", "57")])
        try phone.interval(table, 2, HealthPhone.ms(10), HealthPhone.ms(10), [("exercise_type", "57")])
        try phone.interval(
            "total_calories_burned_record_table", 1, HealthPhone.ms(8), HealthPhone.ms(9), [("energy", "120000")])
        #expect(try phone.samples(.sport).map(\.reading) == [.sport(Sport(activity: "yoga", energy: 120))])
        #expect(try phone.open().skippedRows == [table: [.incomplete: 1]])
    }

    /// The numbers of Android's own list, which are not those of androidx.
    @Test(
        arguments: [
            (0, "unknown"), (1, "badminton"), (4, "cycling"), (5, "indoor_cycling"), (16, "golf"),
            (20, "high_intensity_interval_training"),
            (21, "hiking"), (27, "pilates"), (29, "rock_climbing"), (31, "rowing"), (33, "running"), (34, "treadmill"),
            (41, "soccer"),
            (44, "stair_climbing"), (45, "strength"), (48, "open_water_swimming"), (49, "swimming"), (51, "tennis"),
            (53, "walking"),
            (55, "weightlifting"), (57, "yoga"), (58, "other"), (59, "stair_climbing_machine"), (60, "elliptical"),
            (61, "rowing_machine"), (62, "type_62"), (-1, "type_-1"),
        ] as [(Int64, String)])
    func `names the types of Android's database`(type: Int64, name: String) {
        #expect(ExerciseType.name(of: type) == name)
    }
}
