import Testing
import Vitals

@testable import Phones

/// Sleeps of which a table has the bounds or the minutes, and no stages.
@Suite struct WholeSleepTests {
    private let phone: GadgetbridgePhone
    private let midnight = GadgetbridgePhone.midnight
    init() throws { phone = try GadgetbridgePhone() }

    private func ms(_ minute: Int64) -> Int64 { (midnight + minute * 60) * 1000 }
    private func nights() throws -> [String] { try phone.samples(.sleep).map { SleepTests.text($0) } }

    @Test func `naps of Garmin are of an unknown depth, and two stay two`() throws {
        try phone.table("GARMIN_NAP_SAMPLE", "END_TIMESTAMP I!")
        try phone.insert(
            "GARMIN_NAP_SAMPLE",
            [
                [ms(780), ms(810)],
                // Two that touch are one.
                [ms(825), ms(850)], [ms(850), ms(860)],
                [ms(900), 0], [ms(1000), ms(2441)],
            ])
        #expect(try nights() == ["780…810: S780-810", "825…860: S825-860"])
        #expect(try phone.samples(.sleep).map(\.value) == [30, 35])
        let export = try phone.open()
        #expect(export.skippedRows == ["GARMIN_NAP_SAMPLE": [.incomplete: 1, .tooLong: 1]])
        #expect(export.device.unknownTables.isEmpty)
    }

    @Test func `a sleep with stages counts before one without that overlaps it`() throws {
        try phone.table("GARMIN_NAP_SAMPLE", "END_TIMESTAMP I!", [[ms(30), ms(120)], [ms(200), ms(220)]])
        try phone.table("GARMIN_SLEEP_STAGE_SAMPLE", "STAGE I!")
        try phone.insert("GARMIN_SLEEP_STAGE_SAMPLE", [[ms(0), 2], [ms(40), 3], [ms(70), 4]])
        #expect(try nights() == ["0…70: D0-40 R40-70", "200…220: S200-220"])
    }

    @Test func `a sleep between Garmin's events that has no stages is of an unknown depth`() throws {
        try phone.table(
            "GARMIN_EVENT_SAMPLE", "EVENT I!, EVENT_TYPE I, DATA I",
            [[ms(0), 74, 0, -1], [ms(100), 11, 3, "NULL"], [ms(430), 74, 1, -1]])
        #expect(try nights() == ["0…430: S0-430"])
        #expect(try phone.open().device.unknownTables.isEmpty)
    }

    @Test func `events of Garmin that are of no sleep give no metric`() throws {
        try phone.table(
            "GARMIN_EVENT_SAMPLE", "EVENT I!, EVENT_TYPE I, DATA I", [[ms(100), 11, 3, "NULL"]])
        #expect(try phone.open().device.feeds.isEmpty)
    }

    @Test func `a sleep of Xiaomi without stages has the minutes of its depths, or else is of an unknown one`() throws {
        try phone.table(
            "XIAOMI_SLEEP_TIME_SAMPLE",
            """
            WAKEUP_TIME I, IS_AWAKE I, TOTAL_DURATION I, DEEP_SLEEP_DURATION I, LIGHT_SLEEP_DURATION I,
            REM_SLEEP_DURATION I, AWAKE_DURATION I
            """)
        try phone.insert(
            "XIAOMI_SLEEP_TIME_SAMPLE",
            [
                [ms(0), ms(480), 1, 440, 90, 240, 90, 20],
                [ms(800), ms(830), 1, "NULL", "NULL", "NULL", "NULL", "NULL"],
                // More minutes than fit between its bounds.
                [ms(900), ms(930), 1, 60, 20, 40, 0, 0],
            ])
        #expect(
            try nights() == [
                "0…480: awake 20 deep 90 light 240 rem 90", "800…830: S800-830", "900…930: S900-930",
            ])
        #expect(try phone.samples(.sleep).map(\.value) == [420, 30, 30])
        #expect(try phone.samples(.sleep).allSatisfy { $0.violations.isEmpty })
    }

    @Test func `whole sleeps of Colmi and CMF are read where they have no stages`() throws {
        try phone.table("COLMI_SLEEP_SESSION_SAMPLE", "WAKEUP_TIME I", [[ms(0), ms(400)]])
        try phone.table("CMF_SLEEP_SESSION_SAMPLE", "WAKEUP_TIME I, METADATA B", [[ms(800), ms(840), "NULL"]])
        // Stages of another sleep.
        try phone.table("CMF_SLEEP_STAGE_SAMPLE", "DURATION I!, STAGE I!", [[ms(2000), 60, 1]])
        #expect(try nights() == ["0…400: S0-400", "800…840: S800-840"])
    }

    @Test func `naps of Huawei stay two, by their intervals and by the stages of the watch`() throws {
        try phone.table(
            "HUAWEI_ACTIVITY_SAMPLE", "OTHER_TIMESTAMP I!, SOURCE I!, RAW_KIND I!",
            key: ["TIMESTAMP", "DEVICE_ID", "OTHER_TIMESTAMP", "SOURCE"])
        let naps: [(Int64, Int64)] = [(700, 730), (750, 780)]
        for (from, to) in naps + naps.map({ ($1, $0) }) {
            try phone.insert("HUAWEI_ACTIVITY_SAMPLE", [[midnight + from * 60, midnight + to * 60, 10, 0x5659]])
        }
        try phone.table("HUAWEI_SLEEP_STAGE_SAMPLE", "STAGE I!", (900..<920).map { [ms($0), 5] })
        #expect(try nights() == ["700…730: S700-730", "750…780: S750-780", "900…920: S900-920"])
    }

    @Test func `a sleep of Huawei without stages is one from falling asleep until waking up, within the time in bed`()
        throws
    {
        try phone.table("HUAWEI_SLEEP_STATS_SAMPLE", "BED_TIME I!, RISING_TIME I!, WAKEUP_TIME I!")
        try phone.insert(
            "HUAWEI_SLEEP_STATS_SAMPLE",
            [
                [ms(15), ms(0), ms(450), ms(440)],
                // Without the times in bed.
                [ms(1000), -1, -1, ms(1040)],
            ])
        #expect(try nights() == ["0…450: B0-15 S15-440 B440-450", "1000…1040: S1000-1040"])
        #expect(try phone.samples(.sleep).map(\.value) == [425, 40])
    }

    @Test func `the codes of a generic stage are those of GloryFit where the wearable is one`() throws {
        try phone.table(
            "GLORY_FIT_STEPS_SAMPLE",
            """
            TOTAL_STEPS I!, RUNNING_START I!, RUNNING_END I!, RUNNING_STEPS I!, WALKING_START I!, WALKING_END I!,
            WALKING_STEPS I!
            """)
        try phone.table("GENERIC_SLEEP_STAGE_SAMPLE", "DURATION I!, STAGE I!")
        try phone.insert("GLORY_FIT_STEPS_SAMPLE", [[ms(0), 700, 0, 0, 0, 0, 60, 700]])
        try phone.insert(
            "GENERIC_SLEEP_STAGE_SAMPLE",
            [
                [ms(0), 30, 2], [ms(30), 20, 1], [ms(50), 5, 3], [ms(55), 15, 4], [ms(70), 5, 9],
                // More than an hour later.
                [ms(140), 20, 2],
            ])
        #expect(try nights() == ["0…70: L0-30 D30-50 A50-55 R55-70", "140…160: L140-160"])
        // Whether an hour begins or ends at its time is not known.
        #expect(try phone.open().device.unknownTables == ["GLORY_FIT_STEPS_SAMPLE"])
        #expect(try phone.open().skippedRows == ["GENERIC_SLEEP_STAGE_SAMPLE": [.unknownCode: 1]])
    }

    @Test func `overlays of H-Plus have minutes of each depth, and those of Watch X Plus five minutes each`() throws {
        for (table, rows) in [
            ("HPLUS_HEALTH_ACTIVITY_OVERLAY", [(0, 30, 2), (30, 50, 4), (60, 90, 8)]),
            ("WATCH_XPLUS_HEALTH_ACTIVITY_OVERLAY", [(800, 805, 2), (805, 810, 4), (810, 815, 4)]),
        ] as [(String, [(Int64, Int64, Int)])] {
            try phone.run(
                """
                CREATE TABLE \(table) (TIMESTAMP_FROM INTEGER NOT NULL, TIMESTAMP_TO INTEGER NOT NULL,
                    RAW_KIND INTEGER NOT NULL, DEVICE_ID INTEGER NOT NULL, USER_ID INTEGER NOT NULL)
                """)
            for (from, to, kind) in rows {
                try phone.run(
                    "INSERT INTO \(table) VALUES (\(midnight + from * 60), \(midnight + to * 60), \(kind), 1, 1)")
            }
        }
        #expect(try nights() == ["0…50: deep 20 light 30", "800…815: L800-805 D805-815"])
    }
}
