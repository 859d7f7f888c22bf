import Testing
import Vitals

@testable import Phones

/// An export of 2019: schema 20, without the newer columns, with the figures that are documented of a real one.
///
/// The rows are made for the test; only their numbers are those of the real file: 1,921 rows from 1554101280 to 1554216138,
/// 161 with steps, 10,818 steps in all, heart rates 255 in 1,903 rows, -1 in 6, 0 in 1, 83 in 10, and 70 in 1;
/// one wearable, and one walk.
@Suite struct OldExportTests {
    private static let first: Int64 = 1_554_101_280
    private static let last: Int64 = 1_554_216_138

    private static func write(to phone: GadgetbridgePhone) throws {
        try phone.run(
            """
            PRAGMA user_version = 20;
            DROP TABLE DEVICE;
            DROP TABLE BATTERY_LEVEL;
            DROP TABLE BASE_ACTIVITY_SUMMARY;
            DELETE FROM DEVICE_ATTRIBUTES;
            INSERT INTO DEVICE_ATTRIBUTES VALUES (1, '1.1.5.16', '15974', 1554101333177, NULL, 1, NULL);
            CREATE TABLE "BASE_ACTIVITY_SUMMARY" ("_id" INTEGER PRIMARY KEY, "NAME" TEXT, "START_TIME" INTEGER NOT NULL,
                "END_TIME" INTEGER NOT NULL, "ACTIVITY_KIND" INTEGER NOT NULL, "BASE_LONGITUDE" INTEGER,
                "BASE_LATITUDE" INTEGER, "BASE_ALTITUDE" INTEGER, "GPX_TRACK" TEXT, "DEVICE_ID" INTEGER NOT NULL,
                "USER_ID" INTEGER NOT NULL);
            INSERT INTO BASE_ACTIVITY_SUMMARY VALUES
                (1, NULL, 1554214692000, 1554215255000, 32, 0, 0, 40, '/storage/walk.gpx', 1, 1);
            CREATE TABLE "DEVICE" ("_id" INTEGER PRIMARY KEY, "NAME" TEXT NOT NULL, "MANUFACTURER" TEXT NOT NULL,
                "IDENTIFIER" TEXT NOT NULL UNIQUE, "TYPE" INTEGER NOT NULL, "MODEL" TEXT);
            INSERT INTO DEVICE VALUES (1, 'Amazfit Bip Watch', 'Huami', 'D0:00:00:00:00:01', 12, 'V0.1.1.36');
            """)
        try phone.table("MI_BAND_ACTIVITY_SAMPLE", "RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!")
        var rows: [[Any]] = []
        for index in 0..<1921 {
            let time = index == 1920 ? last : first + Int64(index) * 59
            // 160 rows of 67 steps are 10,720; one more of 98.
            let steps = index < 160 ? 67 : index == 160 ? 98 : 0
            let rate =
                switch index {
                case 0..<10: 83
                case 10: 70
                case 11..<17: -1
                case 17: 0
                default: 255
                }
            rows.append([time, 20, steps, 1, rate])
        }
        try phone.insert("MI_BAND_ACTIVITY_SAMPLE", rows)
    }

    @Test func `gives eleven heart rates and ten thousand eight hundred and eighteen steps`() throws {
        let phone = try GadgetbridgePhone()
        try Self.write(to: phone)
        let export = try phone.open()
        #expect(export.database.version == 20)
        #expect(export.identity.manufacturer == "Huami" && export.battery == nil)
        // The column MODEL has the hardware's version here.
        #expect(
            export.identity.model == "Amazfit Bip Watch" && export.identity.hardware == "V0.1.1.36"
                && export.identity.firmware == "1.1.5.16")
        #expect(try phone.samples(.heartRate).compactMap(\.value) == Array(repeating: 83, count: 10) + [70])
        let steps = try phone.samples(.steps)
        #expect(steps.count == 161 && steps.compactMap(\.value).reduce(0, +) == 10_818)
        #expect(steps.first?.end == Timestamp(seconds: Self.first))
        #expect(try phone.samples(.sleep).isEmpty)
        let workouts = try phone.samples(.sport)
        #expect(workouts.map(\.reading) == [.sport(Sport(activity: "walking"))])
        #expect(workouts.map { $0.end - $0.start } == [.seconds(563)])
        #expect(export.skippedRows["MI_BAND_ACTIVITY_SAMPLE"] == [.notMeasured: 1910])
    }
}
