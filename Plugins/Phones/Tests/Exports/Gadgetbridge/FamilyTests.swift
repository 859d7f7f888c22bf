import Testing
import Vitals

@testable import Phones

/// Families with rules of their own, and tables that are skipped.
@Suite struct FamilyTests {
    private let phone: GadgetbridgePhone
    private let midnight = GadgetbridgePhone.midnight
    init() throws { phone = try GadgetbridgePhone() }

    private func nights() throws -> [String] { try phone.samples(.sleep).map { SleepTests.text($0) } }

    @Test func `a row of Withings lasts as long as it says, also in a night`() throws {
        try phone.table(
            "WITHINGS_STEEL_HRACTIVITY_SAMPLE",
            "DURATION I!, RAW_KIND I!, STEPS I!, DISTANCE I!, CALORIES I!, HEART_RATE I!, RAW_INTENSITY I!")
        func row(_ minute: Int64, lasting minutes: Int, _ kind: Int) -> [Any] {
            [midnight + minute * 60, minutes * 60, kind, 0, 0, 0, 0, 0]
        }
        try phone.insert(
            "WITHINGS_STEEL_HRACTIVITY_SAMPLE",
            [
                row(0, lasting: 40, 2), row(40, lasting: 20, 4), row(60, lasting: 10, 0),
                row(70, lasting: 30, 0x100_0000),
                // More than an hour after the end of the row before.
                row(161, lasting: 5, 4),
            ])
        #expect(try nights() == ["0…100: L0-40 D40-60 R70-100", "161…166: D161-166"])
    }

    @Test func `Lefun's kinds are its own, and its measurements are by codes`() throws {
        try phone.table("LEFUN_ACTIVITY_SAMPLE", "RAW_KIND I!, STEPS I!, DISTANCE I!, CALORIES I!, HEART_RATE I!")
        try phone.table("LEFUN_BIOMETRIC_SAMPLE", "TYPE I!, VALUE1 I!, VALUE2 I")
        try phone.table("LEFUN_SLEEP_SAMPLE", "TYPE I!")
        try phone.insert(
            "LEFUN_ACTIVITY_SAMPLE",
            [
                [midnight + 60, 3, 0, 0, 0, 0], [midnight + 120, 3, 0, 0, 0, 0], [midnight + 180, 4, 0, 0, 0, 0],
                // 2 is a measured heart rate here, and no light sleep as elsewhere.
                [midnight + 240, 2, 0, 0, 0, 71], [midnight + 6000, 1, 25, 10, 1, 0],
            ])
        try phone.insert(
            "LEFUN_BIOMETRIC_SAMPLE",
            [[midnight + 250, 0, 72, 0], [midnight + 300, 1, 121, 79], [midnight + 360, 2, 97, 0]])
        try phone.insert("LEFUN_SLEEP_SAMPLE", [[midnight + 60, 2]])
        #expect(try nights() == ["0…3: L0-2 D2-3"])
        #expect(try phone.values(.heartRate) == [Value(250, 72)])
        #expect(try phone.values(.bloodOxygen) == [Value(360, 97)])
        #expect(try phone.values(.steps) == [Value(5940, 6000, 25)])
        #expect(try phone.samples(.bloodPressure).isEmpty)
        #expect(try phone.open().skippedRows["LEFUN_BIOMETRIC_SAMPLE"] == [.unknownCode: 1])
        // The rows of LEFUN_SLEEP_SAMPLE are those of the activity table.
        #expect(try phone.open().device.unknownTables.isEmpty)
    }

    @Test func `what a person measures with a Xiaomi is by codes, and its temperature is one of the skin`() throws {
        try phone.table("XIAOMI_MANUAL_SAMPLE", "TYPE I, VALUE I")
        try phone.insert(
            "XIAOMI_MANUAL_SAMPLE",
            [
                [midnight * 1000, 0x11, 72], [(midnight + 60) * 1000, 0x12, 97], [(midnight + 120) * 1000, 0x13, 35],
                // The lower two bytes are hundredths of a degree: 33.45 °C.
                [(midnight + 180) * 1000, 0x44, 0x7f_0000 + 3345],
                // A code without a public description.
                [(midnight + 240) * 1000, 0x77, 50],
            ])
        #expect(try phone.values(.heartRate) == [Value(0, 72)])
        #expect(try phone.values(.bloodOxygen) == [Value(60, 97)])
        #expect(try phone.values(.stress) == [Value(120, 35)])
        #expect(try phone.values(.skinTemperature) == [Value(180, 33.45)])
        #expect(try phone.samples(.temperature).isEmpty)
        let manual = try [Metric.heartRate, .bloodOxygen, .stress, .skinTemperature].flatMap { try phone.samples($0) }
        #expect(manual.count == 4 && manual.allSatisfy { $0.isUserInitiated })
        #expect(try phone.open().skippedRows["XIAOMI_MANUAL_SAMPLE"] == [.unknownCode: 1])
    }

    @Test func `a Pebble's deep sleep lies within its light one`() throws {
        try phone.table(
            "PEBBLE_HEALTH_ACTIVITY_SAMPLE", "RAW_INTENSITY I!, STEPS I!, HEART_RATE I!",
            [[midnight, 1, 9, 66]])
        try phone.run(
            """
            CREATE TABLE PEBBLE_HEALTH_ACTIVITY_OVERLAY (TIMESTAMP_FROM INTEGER NOT NULL, TIMESTAMP_TO INTEGER NOT NULL,
                RAW_KIND INTEGER NOT NULL, DEVICE_ID INTEGER NOT NULL, USER_ID INTEGER NOT NULL,
                RAW_PEBBLE_HEALTH_DATA BLOB)
            """)
        func insert(_ from: Int64, _ to: Int64, _ kind: Int, device: Int = 1) throws {
            try phone.run(
                """
                INSERT INTO PEBBLE_HEALTH_ACTIVITY_OVERLAY
                VALUES (\(midnight + from * 60), \(midnight + to * 60), \(kind), \(device), 1, NULL)
                """)
        }
        // A night with two deep parts and a pause of an hour, a walk, a nap, and one of another wearable.
        try insert(0, 120, 1)
        try insert(30, 60, 2)
        try insert(100, 120, 2)
        try insert(180, 240, 1)
        try insert(500, 520, 5)
        try insert(600, 630, 3)
        try insert(610, 630, 4)
        try insert(700, 760, 1, device: 2)
        // Its end is before its beginning.
        try insert(900, 890, 1)
        #expect(
            try nights() == [
                "0…240: L0-30 D30-60 L60-100 D100-120 L180-240", "600…630: L600-610 D610-630",
            ])
        #expect(try phone.values(.heartRate) == [Value(0, 66)] && phone.values(.steps) == [Value(-60, 0, 9)])
        #expect(try phone.open().skippedRows["PEBBLE_HEALTH_ACTIVITY_OVERLAY"] == [.incomplete: 1])
    }

    @Test func `a sleep of a Pebble of more than a day is none`() throws {
        try phone.run(
            """
            CREATE TABLE PEBBLE_HEALTH_ACTIVITY_OVERLAY (TIMESTAMP_FROM, TIMESTAMP_TO, RAW_KIND, DEVICE_ID, USER_ID);
            INSERT INTO PEBBLE_HEALTH_ACTIVITY_OVERLAY VALUES (\(midnight), \(midnight + 86_400), 1, 1, 1),
                (\(midnight + 200_000), \(midnight + 286_401), 1, 1, 1);
            """)
        #expect(try nights() == ["0…1440: L0-1440"])
        #expect(try phone.open().skippedRows["PEBBLE_HEALTH_ACTIVITY_OVERLAY"] == [.tooLong: 1])
    }

    /// The codes of a generic stage depend on the wearable.
    @Test func `what is not understood is skipped and named`() throws {
        try phone.table("GENERIC_SLEEP_STAGE_SAMPLE", "DURATION I!, STAGE I!")
        // The means of a night, whose meaning only their names say.
        try phone.table(
            "HUAWEI_SLEEP_STATS_SAMPLE", "BED_TIME I!, WAKEUP_TIME I!, AVG_HRV I!, AVG_BREATH_RATE I!",
            [[midnight * 1000, midnight * 1000, midnight * 1000, 40, 15]])
        try phone.insert("GENERIC_SLEEP_STAGE_SAMPLE", [[midnight * 1000, 30, 2]])
        // The means of weeks, and baselines.
        try phone.table(
            "COLMI_HRV_SUMMARY_SAMPLE", "WEEKLY_AVERAGE I, LAST_NIGHT_AVERAGE I, BASELINE_LOW_UPPER I",
            [[midnight * 1000, 40, 41, 35]])
        // Sleeps without the table of their minutes.
        try phone.table("LEFUN_SLEEP_SAMPLE", "TYPE I!", [[midnight + 60, 2]])
        // Each interval is there twice, and nothing says which row is which.
        try phone.table("HUAWEI_ACTIVITY_SAMPLE", "STEPS I!, HEART_RATE I!, RAW_KIND I!", [[midnight, 9, 60, 1]])
        let device = try phone.open().device
        #expect(
            device.unknownTables == [
                "COLMI_HRV_SUMMARY_SAMPLE", "GENERIC_SLEEP_STAGE_SAMPLE", "HUAWEI_ACTIVITY_SAMPLE",
                "HUAWEI_SLEEP_STATS_SAMPLE", "LEFUN_SLEEP_SAMPLE",
            ])
        #expect(device.feeds.isEmpty)
    }
}
