import Foundation
import Testing
import Vitals

@testable import Phones

/// Records without a usable time or without an app: none is read, and each is counted.
@Suite struct UnattributedRecordTests {
    private let phone: HealthPhone
    private static let steps = "steps_record_table"

    /// An hour with 812 steps.
    init() throws {
        phone = try HealthPhone()
        try phone.interval(Self.steps, 1, HealthPhone.ms(8), HealthPhone.ms(9), [("count", "812")])
    }

    private func insert(_ number: Int, _ start: String, _ end: String, app: Int = 1, _ count: Int = 5) throws {
        try phone.insert(
            Self.steps, number, app: app, [("start_time", start), ("end_time", end), ("count", "\(count)")])
    }

    /// What `vitals2mqtt sources` lists.
    private func devices() throws -> [ExportedDevice] {
        let stamp = try #require(FileStamp(of: phone.file.path))
        return try HealthConnectExportOptions.devices(
            in: try ExportDatabase(copying: stamp, entry: HealthConnectExportOptions.entry))
    }

    @Test func `odd steps are counted by their reason, and those of the future wait`() throws {
        let (start, end) = ("\(HealthPhone.ms(10))", "\(HealthPhone.ms(11))")
        try insert(2, "NULL", end)
        try insert(3, "'2025-03-29'", end)
        try insert(4, "0", end)
        try insert(5, "9223372036854775807", end)
        try insert(6, end, start)
        try insert(7, start, end, -5)
        // 2096-10-02.
        try insert(8, "4000000000000", "4000000060000")
        #expect(try phone.samples(.steps).map(\.value) == [812])
        #expect(try phone.open().skippedRows == [Self.steps: [.withoutTime: 4, .implausible: 2]])
    }

    @Test func `values, stages and records without a usable time are counted in their table`() throws {
        try phone.interval("heart_rate_record_table", 1, HealthPhone.ms(8), HealthPhone.ms(9))
        try phone.interval("sleep_session_record_table", 1, HealthPhone.ms(0), HealthPhone.ms(6))
        try phone.insert("weight_record_table", 1, [("time", "NULL"), ("weight", "64000")])
        try phone.insert("weight_record_table", 2, [("time", "\(HealthPhone.ms(7))"), ("weight", "65000")])
        try phone.run(
            """
            INSERT INTO heart_rate_record_series_table VALUES (1, 61, \(HealthPhone.ms(8))), (1, 62, 'soon'), (1, 63, -1);
            INSERT INTO sleep_stages_table VALUES (1, \(HealthPhone.ms(0)), \(HealthPhone.ms(6)), 4),
                (1, 'early', \(HealthPhone.ms(1)), 5);
            """)
        #expect(try phone.samples(.heartRate).map(\.value) == [61])
        #expect(try phone.samples(.sleep).map(\.value) == [360])
        #expect(try phone.samples(.weight).map(\.value) == [65])
        #expect(
            try phone.open().skippedRows == [
                "heart_rate_record_series_table": [.withoutTime: 2], "sleep_stages_table": [.withoutTime: 1],
                "weight_record_table": [.withoutTime: 1],
            ])
    }

    @Test func `only rows of the chosen device are counted`() throws {
        try insert(2, "NULL", "NULL")
        try phone.insert(Self.steps, 3, device: 2, [("start_time", "NULL"), ("end_time", "NULL"), ("count", "5")])
        #expect(try phone.open(device: "Watch 3").skippedRows == [Self.steps: [.withoutTime: 1]])
        #expect(try phone.open().skippedRows == [Self.steps: [.withoutTime: 2]])
    }

    @Test func `records of no app are listed without a device to configure`() throws {
        #expect(try devices().map(\.name) == ["Watch"])
        try phone.run(
            """
            DROP TABLE application_info_table;
            CREATE TABLE application_info_table (row_id INTEGER PRIMARY KEY, package_name TEXT, app_name TEXT);
            INSERT INTO application_info_table VALUES (1, 'com.example.watch', 'Watch'), (2, NULL, 'Ghost');
            """)
        let (start, end) = ("\(HealthPhone.ms(10))", "\(HealthPhone.ms(11))")
        // One of an app without a package, one of an app that is not in the list, and one of none.
        for (number, app) in [(2, 2), (3, 9), (4, 9)] { try insert(number, start, end, app: app) }
        try phone.run("UPDATE steps_record_table SET app_info_id = NULL WHERE row_id = 4")
        let found = try devices()
        #expect(found.map(\.name) == ["Watch", "Records without an app"])
        #expect(found.last?.skippedRows == [Self.steps: [.withoutApp: 3]] && found.last?.feeds.isEmpty == true)
        #expect(try phone.samples(.steps, "com.example.watch").map(\.value) == [812])
    }
}
