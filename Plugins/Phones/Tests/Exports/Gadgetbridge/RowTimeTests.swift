import Testing
import Vitals

@testable import Phones

/// Rows whose times cannot be: they hide nothing, and are counted.
@Suite struct RowTimeTests {
    private let phone: GadgetbridgePhone
    private static let table = "PINE_TIME_ACTIVITY_SAMPLE"

    init() throws {
        phone = try GadgetbridgePhone()
        try phone.table(Self.table, "RAW_KIND I!, STEPS I!, HEART_RATE I!")
    }

    private func insert(_ times: [String]) throws {
        try phone.insert(Self.table, times.map { [$0, 1, 0, 70] })
    }

    /// A hundred minutes from midnight on.
    private static let minutes: [Int64] = (0..<100).map { GadgetbridgePhone.midnight + $0 * 60 }

    private func skippedRows() throws -> [String: [SkippedRows.Reason: Int]] { try phone.open().skippedRows }

    @Test(arguments: [
        // The largest number, the year 5138, 2100-01-01 in both units, 2023 in milliseconds and in microseconds.
        "9223372036854775807", "100000000000", "4102444800", "4102444800000", "1700006400000", "1700006400000000",
        // None, before all, the end of 1999, a text and bytes.
        "0", "-1", "-9223372036854775808", "946684799", "'2023-11-15 00:00'", "x'0102'",
    ])
    func `one row with an impossible time hides no other, and is counted`(time: String) throws {
        try insert(Self.minutes.map { "\($0)" } + [time])
        #expect(try phone.samples(.heartRate, limit: 200).map(\.start) == Self.minutes.map { Timestamp(seconds: $0) })
        #expect(try skippedRows() == [Self.table: [.withoutTime: 1]])
    }

    @Test(arguments: ["1700006400", "946684799999", "4102444800000", "'soon'"])
    func `one row with an impossible time hides none of a table in milliseconds`(time: String) throws {
        try insert(Self.minutes.map { "\($0)000" } + [time])
        #expect(try phone.samples(.heartRate, limit: 200).count == 100)
        #expect(try skippedRows() == [Self.table: [.withoutTime: 1]])
    }

    @Test func `the first and the last time that can be are read in their time`() throws {
        // The start of 2000, and the end of 2099, which is not yet.
        try insert(["946684800", "4102444799"])
        #expect(try phone.samples(.heartRate).map(\.start) == [Timestamp(seconds: 946_684_800)])
        #expect(try skippedRows() == [:])
    }

    @Test func `rows without any usable time are counted, and give the wearable no metric`() throws {
        try insert((0..<50).map { "'row \($0)'" } + ["0", "-60"])
        let export = try phone.open()
        #expect(export.skippedRows == [Self.table: [.withoutTime: 52]])
        #expect(export.device.feeds.isEmpty && export.device.unknownTables.isEmpty)
    }

    @Test func `only rows of the wearable are counted, and none of a table that no rule knows`() throws {
        try phone.table("STRANGE_SAMPLE", "SOMETHING I!", [[0, 1]])
        try insert(["\(GadgetbridgePhone.midnight)"])
        try phone.insert(Self.table, device: 2, [[0, 1, 0, 70]])
        let export = try phone.open()
        #expect(export.skippedRows.isEmpty && export.device.unknownTables == ["STRANGE_SAMPLE"])
    }

    @Test func `workouts and overlays without a usable time are counted`() throws {
        let start = GadgetbridgePhone.midnight * 1000
        try phone.run(
            """
            INSERT INTO BASE_ACTIVITY_SUMMARY (START_TIME, END_TIME, ACTIVITY_KIND, DEVICE_ID, USER_ID) VALUES
            (\(start), \(start + 1_800_000), 16, 1, 1), (0, 1800000, 16, 1, 1), ('today', \(start), 16, 1, 1);
            CREATE TABLE PEBBLE_HEALTH_ACTIVITY_OVERLAY (TIMESTAMP_FROM INTEGER, TIMESTAMP_TO INTEGER, RAW_KIND INTEGER,
                DEVICE_ID INTEGER, USER_ID INTEGER);
            INSERT INTO PEBBLE_HEALTH_ACTIVITY_OVERLAY VALUES (\(GadgetbridgePhone.midnight), \(GadgetbridgePhone.midnight + 3600), 1, 1, 1),
                (NULL, \(GadgetbridgePhone.midnight), 1, 1, 1), (-1, \(GadgetbridgePhone.midnight), 2, 1, 1), (-1, \(GadgetbridgePhone.midnight), 5, 1, 1);
            """)
        #expect(
            try skippedRows() == [
                "BASE_ACTIVITY_SUMMARY": [.withoutTime: 2], "PEBBLE_HEALTH_ACTIVITY_OVERLAY": [.withoutTime: 2],
            ])
    }

    @Test func `a charge with an impossible time does not hide the newest one`() throws {
        try phone.run(
            """
            INSERT INTO BATTERY_LEVEL VALUES (\(GadgetbridgePhone.midnight), 1, 80, 0), (9223372036854775807, 1, 5, 0), ('x', 1, 6, 0)
            """)
        let battery = try phone.open().battery
        #expect(battery?.percent == 80 && battery?.at == GadgetbridgePhone.at(0))
    }
}
