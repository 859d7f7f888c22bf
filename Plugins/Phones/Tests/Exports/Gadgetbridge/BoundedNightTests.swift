import Testing
import Vitals

@testable import Phones

/// Sleeps that have stages alone, beside nights that have bounds of their own.
@Suite struct BoundedNightTests {
    private let phone: GadgetbridgePhone
    init() throws { phone = try GadgetbridgePhone() }

    private static let stages = "HUAWEI_SLEEP_STAGE_SAMPLE"
    private func ms(_ minute: Int64) -> Int64 { (GadgetbridgePhone.midnight + minute * 60) * 1000 }
    private func nights() throws -> [String] { try phone.samples(.sleep).map { SleepTests.text($0) } }

    /// Fills the tables of a Huawei watch: nights from going to bed, where that is known, until getting up, and a row with a stage for
    /// each of these minutes.
    private func huawei(
        nights: [(bed: Int64?, rise: Int64)], stages: [(minutes: Range<Int64>, stage: Int)]
    ) throws {
        try phone.table(
            "HUAWEI_SLEEP_STATS_SAMPLE", "SLEEP_SCORE I!, BED_TIME I!, RISING_TIME I!, WAKEUP_TIME I!, AVG_HRV I!")
        try phone.table(Self.stages, "STAGE I!")
        for night in nights {
            let (bed, rise) = (night.bed.map { ms($0) } ?? -1, ms(night.rise))
            try phone.insert("HUAWEI_SLEEP_STATS_SAMPLE", [[rise, 80, bed, rise, rise, 40]])
        }
        for (minutes, stage) in stages { try phone.insert(Self.stages, minutes.map { [ms($0), stage] }) }
    }

    @Test func `a sleep of Huawei that has stages alone is reported, also within an hour of a night with bounds`()
        throws
    {
        try huawei(
            nights: [(0, 200), (nil, 260), (560, 700), (760, 800)],
            stages: [
                (5..<195, 1), (230..<260, 2),
                // Before a night, and between two.
                (500..<530, 1), (561..<690, 3), (720..<740, 2), (760..<800, 1),
            ])
        #expect(
            try nights() == [
                "0…200: L5-195", "230…260: R230-260", "500…530: L500-530", "560…700: D561-690", "720…740: R720-740",
                "760…800: L760-800",
            ])
        #expect(try phone.open().skippedRows.isEmpty)
    }

    @Test func `rows that go on beyond the bounds of a night are counted, and are no sleep of their own`() throws {
        try huawei(
            nights: [(100, 200), (1000, 1100), (2000, 2100)],
            stages: [
                // At once before and after.
                (95..<205, 1),
                // A minute after the end, and a minute before the beginning.
                (990..<999, 1), (1000..<1100, 2), (1101..<1110, 1),
                // Two minutes each.
                (1900..<1998, 1), (2000..<2100, 2), (2102..<2110, 1),
            ])
        #expect(
            try nights() == [
                "100…200: L100-200", "1000…1100: R1000-1100", "1900…1998: L1900-1998", "2000…2100: R2000-2100",
                "2102…2110: L2102-2110",
            ])
        #expect(try phone.open().skippedRows == [Self.stages: [.incomplete: 4]])
    }

    @Test func `a night whose bounds no stage lies in ends no sleep of stages`() throws {
        try huawei(nights: [(50, 60)], stages: [(10..<40, 1), (70..<90, 3)])
        #expect(try nights() == ["10…90: L10-40 D70-90"])
        #expect(try phone.open().skippedRows.isEmpty)
    }

    @Test func `a sleep of Garmin without events is reported beside one with them, and a lone stage is counted`() throws
    {
        try phone.table("GARMIN_SLEEP_STAGE_SAMPLE", "STAGE I!")
        try phone.table(
            "GARMIN_EVENT_SAMPLE", "EVENT I!, EVENT_TYPE I, DATA I",
            [[ms(0), 74, 0, "NULL"], [ms(130), 74, 1, "NULL"], [ms(400), 74, 0, "NULL"], [ms(500), 74, 1, "NULL"]])
        try phone.insert(
            "GARMIN_SLEEP_STAGE_SAMPLE",
            [
                [ms(20), 2], [ms(60), 3], [ms(130), 4],
                // When its first stage began is not known.
                [ms(200), 2], [ms(215), 3], [ms(230), 2],
                // A stage that ended after the second night, and began nobody knows when.
                [ms(450), 2], [ms(500), 3], [ms(520), 2],
            ])
        #expect(
            try nights() == [
                "0…130: L0-20 D20-60 R60-130", "200…230: D200-215 L215-230", "400…500: L400-450 D450-500",
            ])
        #expect(try phone.open().skippedRows == ["GARMIN_SLEEP_STAGE_SAMPLE": [.incomplete: 1]])
    }

    @Test func `a code without a meaning is counted once, within a night and beside it`() throws {
        try huawei(
            nights: [(0, 60)], stages: [(0..<30, 1), (30..<31, 9), (31..<60, 1), (200..<210, 2), (210..<211, 9)])
        #expect(try nights() == ["0…60: L0-30 L31-60", "200…210: R200-210"])
        #expect(try phone.open().skippedRows == [Self.stages: [.unknownCode: 2]])
    }
}
