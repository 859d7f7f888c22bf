import Testing
import Vitals

@testable import Phones

/// The nights of each family that keeps stages.
@Suite struct SleepTests {
    private let phone: GadgetbridgePhone
    private let midnight = GadgetbridgePhone.midnight
    init() throws { phone = try GadgetbridgePhone() }

    /// The stages of a night in short: `L0-30 D30-60`, in minutes from `GadgetbridgePhone.midnight`, with S for asleep and B for in bed; and minutes
    /// without a time: `deep 30`.
    static func text(_ sample: Sample) -> String {
        guard case .sleep(let sleep) = sample.reading else { return "no sleep" }
        func minute(_ moment: Timestamp) -> Int64 { (moment.milliseconds / 1000 - GadgetbridgePhone.midnight) / 60 }
        let letters: [Sleep.Stage.Depth: String] = [
            .deep: "D", .light: "L", .rem: "R", .awake: "A", .asleep: "S", .inBed: "B",
        ]
        let stages = sleep.stages.map { "\(letters[$0.depth] ?? "?")\(minute($0.start))-\(minute($0.end))" }
        let totals = sleep.untimed.map { "\($0.key.rawValue) \($0.value)" }.sorted()
        return "\(minute(sample.start))…\(minute(sample.end)): \((stages + totals).joined(separator: " "))"
    }

    private func nights() throws -> [String] { try phone.samples(.sleep).map { Self.text($0) } }

    @Test func `a stage of Xiaomi lasts until the next, and the last until waking`() throws {
        try phone.table(
            "XIAOMI_SLEEP_TIME_SAMPLE",
            """
            WAKEUP_TIME I, IS_AWAKE I, TOTAL_DURATION I, DEEP_SLEEP_DURATION I, LIGHT_SLEEP_DURATION I,
            REM_SLEEP_DURATION I, AWAKE_DURATION I
            """)
        try phone.table("XIAOMI_SLEEP_STAGE_SAMPLE", "STAGE I")
        func ms(_ minute: Int64) -> Int64 { (midnight + minute * 60) * 1000 }
        try phone.insert(
            "XIAOMI_SLEEP_TIME_SAMPLE",
            [
                [ms(0), ms(120), 1, 120, 40, 40, 20, 20],
                // One that continues, and one without stages.
                [ms(900), "NULL", 0, 0, 0, 0, 0, 0], [ms(1000), ms(1030), 1, 30, 0, 30, 0, 0],
            ])
        try phone.insert(
            "XIAOMI_SLEEP_STAGE_SAMPLE",
            [[ms(0), 3], [ms(30), 2], [ms(70), 4], [ms(90), 5], [ms(95), 9], [ms(100), 3], [ms(800), 2]])
        #expect(try nights() == ["0…120: L0-30 D30-70 R70-90 A90-95 L100-120", "1000…1030: light 30"])
        #expect(try phone.open().skippedRows["XIAOMI_SLEEP_STAGE_SAMPLE"] == [.unknownCode: 1, .incomplete: 1])
    }

    @Test func `stages of Colmi last minutes, and those of CMF seconds`() throws {
        func ms(_ minute: Int64) -> Int64 { (midnight + minute * 60) * 1000 }
        try phone.table("COLMI_SLEEP_SESSION_SAMPLE", "WAKEUP_TIME I")
        try phone.table("COLMI_SLEEP_STAGE_SAMPLE", "DURATION I!, STAGE I!")
        try phone.insert("COLMI_SLEEP_SESSION_SAMPLE", [[ms(0), ms(60)]])
        try phone.insert(
            "COLMI_SLEEP_STAGE_SAMPLE", [[ms(0), 20, 2], [ms(20), 10, 3], [ms(30), 15, 4], [ms(45), 30, 5]])
        #expect(try nights() == ["0…60: L0-20 D20-30 R30-45 A45-60"])

        let other = try GadgetbridgePhone()
        try other.table("CMF_SLEEP_SESSION_SAMPLE", "WAKEUP_TIME I, METADATA B")
        try other.table("CMF_SLEEP_STAGE_SAMPLE", "DURATION I!, STAGE I!")
        try other.insert("CMF_SLEEP_SESSION_SAMPLE", [[ms(0), ms(60), "NULL"]])
        try other.insert("CMF_SLEEP_STAGE_SAMPLE", [[ms(0), 1200, 1], [ms(20), 600, 2], [ms(30), 1800, 3]])
        #expect(try other.samples(.sleep).map { Self.text($0) } == ["0…60: D0-20 L20-30 R30-60"])
    }

    @Test func `a stage of Garmin ends at its time, and begins where the one before ended`() throws {
        func ms(_ minute: Int64) -> Int64 { (midnight + minute * 60) * 1000 }
        try phone.table("GARMIN_SLEEP_STAGE_SAMPLE", "STAGE I!")
        try phone.table(
            "GARMIN_EVENT_SAMPLE", "EVENT I!, EVENT_TYPE I, DATA I",
            [[ms(0), 74, 0, "NULL"], [ms(5), 11, 3, "NULL"], [ms(130), 74, 1, "NULL"]])
        try phone.insert(
            "GARMIN_SLEEP_STAGE_SAMPLE",
            [
                [ms(20), 2], [ms(60), 3], [ms(70), 1], [ms(130), 4],
                // A night without events: where its first stage began is not known.
                [ms(1440), 2], [ms(1470), 3], [ms(1500), 0], [ms(1530), 2],
            ])
        #expect(try nights() == ["0…130: L0-20 D20-60 A60-70 R70-130", "1440…1530: D1440-1470 L1500-1530"])
    }

    @Test func `nights of Moyoung and Huawei end with a long pause`() throws {
        func ms(_ minute: Int64) -> Int64 { (midnight + minute * 60) * 1000 }
        try phone.table(
            "MOYOUNG_SLEEP_STAGE_SAMPLE", "STAGE I!",
            [[ms(0), 1], [ms(40), 2], [ms(130), 3], [ms(150), 0], [ms(600), 1], [ms(630), 0]])
        #expect(try nights() == ["0…150: L0-40 D40-130 R130-150", "600…630: L600-630"])

        let other = try GadgetbridgePhone()
        try other.table("HUAWEI_SLEEP_STAGE_SAMPLE", "STAGE I!")
        let rows = (0..<30).map { [ms(Int64($0)), $0 < 10 ? 1 : $0 < 20 ? 3 : 2] } + [[ms(100), 1], [ms(101), 4]]
        try other.insert("HUAWEI_SLEEP_STAGE_SAMPLE", rows)
        #expect(
            try other.samples(.sleep).map { Self.text($0) } == [
                "0…30: L0-10 D10-20 R20-30", "100…102: L100-101 A101-102",
            ])
    }

    @Test func `minutes of sleep become nights, and an hour without ends one`() throws {
        try phone.table("MI_BAND_ACTIVITY_SAMPLE", "RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!")
        func rows(_ minutes: ClosedRange<Int64>, _ kind: Int) -> [[Any]] {
            minutes.map { [midnight + $0 * 60, 0, 0, kind, 255] }
        }
        // 0x79: only the lower half counts. 10 repeats the kind before.
        try phone.insert(
            "MI_BAND_ACTIVITY_SAMPLE",
            rows(1...10, 0x79) + rows(11...20, 11) + rows(21...25, 10) + rows(26...30, 1) + rows(31...35, 9)
                + rows(36...100, 1) + rows(101...105, 9) + rows(106...108, 12))
        #expect(try nights() == ["0…35: L0-10 D10-25 L30-35", "100…105: L100-105"])
    }

    @Test func `the depth of a Huami minute is in its own columns`() throws {
        try phone.table(
            "HUAMI_EXTENDED_ACTIVITY_SAMPLE",
            """
            RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!, UNKNOWN1 I, SLEEP I, DEEP_SLEEP I, REM_SLEEP I
            """)
        try phone.insert(
            "HUAMI_EXTENDED_ACTIVITY_SAMPLE",
            [
                [midnight + 60, 0, 0, 120, 60, 0, 0, 0, 0], [midnight + 120, 0, 0, 120, 60, 0, 0, 43, 0],
                [midnight + 180, 0, 0, 120, 60, 0, 0, 43, 56], [midnight + 240, 0, 0, 120, 60, 0, 0, 170, 183],
                [midnight + 300, 0, 0, 120, 60, 0, 0, 42, 55], [midnight + 360, 0, 0, 115, 60, 0, 0, 90, 90],
            ])
        #expect(try nights() == ["0…5: L0-1 D1-2 R2-3 L3-5"])
    }

    @Test func `a night of the wearable counts before one of minutes that overlaps it`() throws {
        try phone.table("ULTRAHUMAN_ACTIVITY_SAMPLE", "RAW_KIND I!, HEART_RATE I!, RAW_INTENSITY I!, STEPS I!")
        try phone.table("COLMI_SLEEP_SESSION_SAMPLE", "WAKEUP_TIME I")
        try phone.table("COLMI_SLEEP_STAGE_SAMPLE", "DURATION I!, STAGE I!")
        func ms(_ minute: Int64) -> Int64 { (midnight + minute * 60) * 1000 }
        try phone.insert(
            "ULTRAHUMAN_ACTIVITY_SAMPLE",
            (1...30).map { [midnight + $0 * 60, 2, 0, 0, 0] } + (200...210).map { [midnight + $0 * 60, 4, 0, 0, 0] })
        try phone.insert("COLMI_SLEEP_SESSION_SAMPLE", [[ms(10), ms(40)]])
        try phone.insert("COLMI_SLEEP_STAGE_SAMPLE", [[ms(10), 30, 2]])
        #expect(try nights() == ["10…40: L10-40", "199…210: D199-210"])
    }

    @Test func `stages of Huawei count before its minutes`() throws {
        try phone.table(
            "HUAWEI_ACTIVITY_SAMPLE",
            "OTHER_TIMESTAMP I!, SOURCE I!, RAW_KIND I!, RAW_INTENSITY I!, STEPS I!, CALORIES I!, HEART_RATE I!",
            key: ["TIMESTAMP", "DEVICE_ID", "OTHER_TIMESTAMP", "SOURCE"])
        try phone.table("HUAWEI_SLEEP_STAGE_SAMPLE", "STAGE I!")
        func ms(_ minute: Int64) -> Int64 { (midnight + minute * 60) * 1000 }
        func row(_ from: Int64, _ to: Int64, _ kind: Int) -> [Any] {
            [midnight + from * 60, midnight + to * 60, 13, kind, 0, 0, 0, 0]
        }
        try phone.insert(
            "HUAWEI_ACTIVITY_SAMPLE",
            [row(0, 30, 6), row(30, 0, 6), row(30, 50, 7), row(50, 30, 7), row(300, 310, 6), row(310, 320, 0x5656)])
        try phone.insert("HUAWEI_SLEEP_STAGE_SAMPLE", (5..<20).map { [ms($0), 3] })
        // A nap, whose depth is unknown.
        try phone.insert("HUAWEI_ACTIVITY_SAMPLE", [row(700, 730, 0x5659), row(730, 700, 0x5659)])
        #expect(try nights() == ["5…20: D5-20", "300…320: L300-310 R310-320", "700…730: S700-730"])
        #expect(try phone.open().skippedRows["HUAWEI_ACTIVITY_SAMPLE"]?[.incomplete] == nil)
    }

    @Test func `a sleep of Huawei lasts from going to bed until getting up, where the watch knows both`() throws {
        func ms(_ minute: Int64) -> Int64 { (midnight + minute * 60) * 1000 }
        try phone.table(
            "HUAWEI_SLEEP_STATS_SAMPLE", "SLEEP_SCORE I!, BED_TIME I!, RISING_TIME I!, WAKEUP_TIME I!, AVG_HRV I!")
        try phone.table("HUAWEI_SLEEP_STAGE_SAMPLE", "STAGE I!")
        try phone.insert(
            "HUAWEI_SLEEP_STATS_SAMPLE",
            [
                [ms(200), 80, ms(0), ms(200), ms(195), 40], [ms(1010), 70, -1, ms(1010), ms(1010), -1],
                [ms(1330), 60, ms(1300), -1, ms(1330), -1],
                // Reported twice, the second time as a longer one.
                [ms(2030), 50, ms(2000), ms(2030), -1, -1], [ms(2050), 50, ms(2000), ms(2050), -1, -1],
            ])
        func rows(_ minutes: Range<Int64>, _ stage: Int) -> [[Any]] { minutes.map { [ms($0), stage] } }
        try phone.insert(
            "HUAWEI_SLEEP_STAGE_SAMPLE",
            // Awake for more than an hour without a row.
            rows(5..<60, 1) + rows(130..<195, 3) + rows(1000..<1010, 1) + rows(1301..<1335, 2) + rows(2010..<2045, 1))
        #expect(
            try nights() == [
                "0…200: L5-60 D130-195", "1000…1010: L1000-1010", "1300…1330: R1301-1330", "2000…2050: L2010-2045",
            ])
        // Asleep until five minutes after waking up.
        #expect(try phone.open().skippedRows == ["HUAWEI_SLEEP_STAGE_SAMPLE": [.incomplete: 1]])
        #expect(try phone.open().device.unknownTables.isEmpty)
    }

    @Test func `a long time awake ends a night without a table of sleeps, and no stage lasts for hours`() throws {
        func ms(_ minute: Int64) -> Int64 { (midnight + minute * 60) * 1000 }
        try phone.table(
            "MOYOUNG_SLEEP_STAGE_SAMPLE", "STAGE I!",
            [[ms(0), 1], [ms(90), 0], [ms(210), 1], [ms(250), 0], [ms(300), 1], [ms(421), 2], [ms(450), 0]])
        #expect(try nights() == ["0…90: L0-90", "210…300: L210-250 A250-300", "421…450: D421-450"])
        let other = try GadgetbridgePhone()
        try other.table("GARMIN_SLEEP_STAGE_SAMPLE", "STAGE I!")
        try other.insert(
            "GARMIN_SLEEP_STAGE_SAMPLE", [[ms(0), 2], [ms(460), 2], [ms(610), 2], [ms(640), 3], [ms(710), 1]])
        #expect(try other.samples(.sleep).map { Self.text($0) } == ["610…640: D610-640"])
    }

    @Test func `a kind that repeats the one before says nothing after a pause`() throws {
        try phone.table(
            "MI_BAND_ACTIVITY_SAMPLE", "RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!",
            [[midnight + 60, 0, 0, 9, 0], [midnight + 120, 0, 0, 10, 0], [midnight + 14 * 3600, 0, 0, 10, 0]])
        #expect(try nights() == ["0…2: L0-2"])
    }

    @Test func `the sleep of a Huawei watch itself counts before that of its activity`() throws {
        try phone.table(
            "HUAWEI_ACTIVITY_SAMPLE",
            """
            OTHER_TIMESTAMP I!, SOURCE I!, RAW_KIND I!, RAW_INTENSITY I!, STEPS I!, CALORIES I!, DISTANCE I!, SPO I!,
            HEART_RATE I!, RESTING_HEART_RATE I!
            """, key: ["TIMESTAMP", "DEVICE_ID", "OTHER_TIMESTAMP", "SOURCE"])
        func row(_ from: Int64, _ to: Int64, _ source: Int, _ kind: Int) -> [Any] {
            [midnight + from * 60, midnight + to * 60, source, kind, -1, -1, -1, -1, -1, -1, -1]
        }
        try phone.insert(
            "HUAWEI_ACTIVITY_SAMPLE",
            [row(0, 30, 13, 6), row(10, 20, 10, 7), row(20, 40, 10, 6), row(45, 60, 13, 6)])
        #expect(try nights() == ["10…60: D10-20 L20-40 L45-60"])
    }

    @Test func `who is asleep for more than a day does not wear the wearable`() throws {
        try phone.table(
            "PINE_TIME_ACTIVITY_SAMPLE", "RAW_KIND I!, STEPS I!, HEART_RATE I!",
            (0...150).map { [midnight + $0 * 600, 2, 0, 0] } + [[midnight + 200_000, 2, 0, 0]])
        #expect(try nights().count == 1)
        #expect(try phone.open().skippedRows["PINE_TIME_ACTIVITY_SAMPLE"]?[.tooLong] == 1)
    }
}
