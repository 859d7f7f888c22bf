import Foundation
import TestSupport
import Testing
import Vitals

@testable import Phones

/// Exports of both apps from the nights in which Berlin's clocks change, from a journey, and with rows of a clock that is ahead. The
/// values are worked out by hand.
@Suite struct ExportClockTests {
    /// A night of three stages.
    struct Night: Sendable, CustomStringConvertible {
        var description: String
        /// Where the stages begin, and the last one ends, in seconds.
        var bounds: [Int64]
        var minutes: Double
        /// What the phone's zone is at the beginning and at the end, in seconds.
        var offsets: [Int]
        /// Two minutes with 10 and 20 steps, by their ends.
        var steps: [Int64]
        /// The steps of the day of waking, in Berlin.
        var day: String
        var total: Int
    }

    static let nights = [
        // 23:30 to 07:30 on 2026-03-29, which has no hour after two. Steps until 01:59, and until 03:00, which is a minute later.
        Night(
            description: "an hour less", bounds: [1_774_737_000, 1_774_744_200, 1_774_747_800, 1_774_762_200],
            minutes: 420, offsets: [3600, 7200], steps: [1_774_745_940, 1_774_746_000], day: "2026-03-29", total: 30),
        // 23:30 to 07:30 on 2026-10-25, which has the hour after two twice. Steps until a quarter past two, twice.
        Night(
            description: "an hour more", bounds: [1_792_877_400, 1_792_888_200, 1_792_891_800, 1_792_909_800],
            minutes: 540, offsets: [7200, 3600], steps: [1_792_887_300, 1_792_890_900], day: "2026-10-25", total: 30),
        // From 22:00 of 2026-06-12 in Berlin until 20:00 of the same day in New York, which is 02:00 of the next one in Berlin.
        Night(
            description: "a journey", bounds: [1_781_294_400, 1_781_301_600, 1_781_305_200, 1_781_308_800],
            minutes: 240, offsets: [7200, -14_400], steps: [1_781_301_000, 1_781_301_900], day: "2026-06-13", total: 20),
    ]

    private func check(_ night: Night, _ samples: [Sample]) async throws {
        let store = try ConsumedStore(.lastReported, device: try #require(DeviceID("phone")))
        for _ in 0..<2 { try await store.ingest(samples) }
        let sleep = try #require(store.held(.sleep).first)
        #expect(sleep.start == Timestamp(seconds: night.bounds[0]) && sleep.end == Timestamp(seconds: night.bounds[3]))
        #expect(sleep.value == night.minutes)
        #expect(store.held(.steps).map(\.end) == night.steps.map { Timestamp(seconds: $0) })
        #expect(store.held.count == 3)
        let (berlin, day) = (
            try #require(LocalCalendar(identifier: "Europe/Berlin")), try #require(LocalDay(night.day))
        )
        #expect(berlin.day(of: sleep.end) == day)
        let steps = try await store.total(.steps, of: day, in: berlin)
        #expect(steps == Double(night.total))
    }

    @Test(arguments: nights)
    func `a night of Health Connect in which the clocks change, or the zone, has its minutes and its steps`(
        night: Night
    ) async throws {
        let phone = try HealthPhone()
        func insert(_ table: String, _ number: Int, _ start: Int64, _ end: Int64, _ columns: [(String, String)] = [])
            throws
        {
            let times = [("start_time", "\(start * 1000)"), ("end_time", "\(end * 1000)")]
            try phone.insert(table, number, offset: night.offsets[number - 1], times + columns)
        }
        for (number, end) in night.steps.enumerated() {
            try insert("steps_record_table", number + 1, end - 60, end, [("count", "\(10 * (number + 1))")])
        }
        try insert("sleep_session_record_table", 1, night.bounds[0], night.bounds[3])
        for (place, code) in [4, 5, 6].enumerated() {
            let (start, end) = (night.bounds[place] * 1000, night.bounds[place + 1] * 1000)
            try phone.run("INSERT INTO sleep_stages_table VALUES (1, \(start), \(end), \(code))")
        }
        let zone = "Europe/Berlin"
        try await check(night, try phone.samples(.sleep, zone: zone) + phone.samples(.steps, zone: zone))
    }

    @Test(arguments: nights)
    func `a night of Gadgetbridge in which the clocks change, or the zone, has its minutes and its steps`(
        night: Night
    ) async throws {
        let phone = try GadgetbridgePhone()
        try phone.table(
            "XIAOMI_ACTIVITY_SAMPLE", "RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!",
            night.steps.enumerated().map { [$1, 0, 10 * ($0 + 1), 0, 0] })
        try phone.table(
            "XIAOMI_SLEEP_TIME_SAMPLE", "WAKEUP_TIME I", [[night.bounds[0] * 1000, night.bounds[3] * 1000]])
        try phone.table(
            "XIAOMI_SLEEP_STAGE_SAMPLE", "STAGE I", [3, 2, 4].enumerated().map { [night.bounds[$0] * 1000, $1] })
        let zone = "Europe/Berlin"
        try await check(night, try phone.samples(.sleep, zone: zone) + phone.samples(.steps, zone: zone))
    }

    @Test func `on a day of 23 hours a count goes on to its end, and the next day begins its own`() throws {
        let phone = try GadgetbridgePhone()
        // 2026-03-29 in Berlin begins at 23:00 in UTC. Ten past midnight, ten to the next one, and ten past that.
        let begin: Int64 = 1_774_738_800
        try phone.table(
            "GARMIN_ACTIVITY_SAMPLE",
            "RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!, DISTANCE_CM I!, ACTIVE_CALORIES I!",
            [
                [begin + 600, 0, 3000, 0, 0, 0, 0], [begin + 23 * 3600 - 600, 0, 3500, 0, 0, 0, 0],
                [begin + 23 * 3600 + 600, 0, 40, 0, 0, 0, 0],
            ])
        #expect(try phone.samples(.steps, zone: "Europe/Berlin").map(\.value) == [3000, 500, 40])
    }

    // MARK: - A clock that is ahead

    /// Enough for a check and for the time in which a file must not change.
    private static let soon: Duration = .seconds(80)
    /// Seconds from the moment at which a gateway begins: ten minutes before it, and ten minutes and ten days after it.
    private static let ahead: [Int64] = [-600, 600, 864_000]

    @Test func `a row of Gadgetbridge of ten minutes ahead comes in its time, and one of ten days waits`() throws {
        let phone = try GadgetbridgePhone()
        let noon = GadgetbridgePhone.midnight + 36 * 3600
        try phone.table(
            "XIAOMI_ACTIVITY_SAMPLE", "RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!",
            Self.ahead.enumerated().map { [noon + $1, 0, 5, 0, 70 + $0] })
        try Scenario.run(with: phone) { [phone] scenario in
            try await scenario.pass(Self.soon)
            #expect(scenario.kept.samples(.heartRate).map(\.value) == [70])
            // The phone exports the same again when ten minutes have passed.
            try await scenario.pass(.minutes(10))
            try Data(contentsOf: phone.file).write(to: phone.file)
            try await scenario.pass(Self.soon)
            #expect(scenario.kept.samples(.heartRate).map(\.value) == [70, 71])
            #expect(scenario.kept.samples(.steps).count == 2 && scenario.kept.corrected.isEmpty)
        }
    }

    @Test func `a record of Health Connect of ten minutes ahead comes in its time, and one of ten days waits`() throws {
        let phone = try HealthPhone()
        for (number, seconds) in Self.ahead.enumerated() {
            let start = HealthPhone.ms(36) + seconds * 1000
            try phone.instant(
                "resting_heart_rate_record_table", number + 1, at: start, [("beats_per_minute", "\(60 + number)")])
            try phone.interval("steps_record_table", number + 1, start, start + 60_000, [("count", "5")])
        }
        try phone.simulate { [phone] run in
            try await run.pass(Self.soon)
            #expect(run.kept.samples(.restingHeartRate).map(\.value) == [60])
            try await run.pass(.minutes(10))
            try Data(contentsOf: phone.file).write(to: phone.file)
            try await run.pass(Self.soon)
            #expect(run.kept.samples(.restingHeartRate).map(\.value) == [60, 61])
            #expect(run.kept.samples(.steps).count == 2 && run.kept.corrected.isEmpty)
        }
    }
}
