import Foundation
import TestSupport
import Testing
import Vitals

@testable import Phones

/// What new exports bring to a gateway that is running.
@Suite struct HealthConnectFollowTests {
    private let phone: HealthPhone
    private static let rates: Int64 = 300

    init() throws {
        phone = try HealthPhone()
        try phone.interval("heart_rate_record_table", 1, HealthPhone.ms(0), HealthPhone.ms(5))
        try phone.run(
            """
            WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.rates - 1))
            INSERT INTO heart_rate_record_series_table SELECT 1, 60 + i % 30, \(HealthPhone.ms(0)) + i * 60000 FROM n
            """)
        try phone.interval("steps_record_table", 1, HealthPhone.ms(8), HealthPhone.ms(9), [("count", "800")])
        try phone.interval("sleep_session_record_table", 1, HealthPhone.ms(-1), HealthPhone.ms(5))
        try phone.run(
            "INSERT INTO sleep_stages_table VALUES (1, \(HealthPhone.ms(-1)), \(HealthPhone.ms(5)), 4)")
        try phone.instant("weight_record_table", 1, at: HealthPhone.ms(7), [("weight", "71500")])
    }

    /// Enough for a check and for the time in which a file must not change.
    private static let soon: Duration = .seconds(80)

    @Test func `an identical export adds nothing, and a new record comes within a minute and a half`() throws {
        try phone.simulate { [phone] run in
            try await run.pass(Self.soon)
            #expect(run.kept.samples(.heartRate).count == Int(Self.rates) && run.kept.count == Int(Self.rates) + 3)
            try Data(contentsOf: phone.file).write(to: phone.file)
            try await run.pass(.minutes(5))
            #expect(run.kept.count == Int(Self.rates) + 3)
            try phone.instant("weight_record_table", 2, at: HealthPhone.ms(31), [("weight", "71400")])
            try await run.pass(Self.soon)
            #expect(run.kept.samples(.weight).map(\.value) == [71.5, 71.4])
            #expect(run.kept.corrected.isEmpty && run.endings.isEmpty)
        }
    }

    @Test func `a changed record raises its own revision, and a deleted one stays`() throws {
        try phone.simulate { [phone] run in
            try await run.pass(Self.soon)
            try phone.run(
                """
                UPDATE weight_record_table SET weight = 71000, last_modified_time = 2;
                DELETE FROM heart_rate_record_series_table WHERE epoch_millis = \(HealthPhone.ms(1));
                """)
            try await run.pass(Self.soon)
            #expect(run.kept.corrected.map(\.value) == [71])
            #expect(run.kept.samples(.heartRate).count == Int(Self.rates))
        }
    }

    @Test func `a session and a count that grow come with their new end`() throws {
        try phone.simulate { [phone] run in
            try await run.pass(Self.soon)
            try phone.run(
                """
                UPDATE sleep_session_record_table SET end_time = \(HealthPhone.ms(6)), last_modified_time = 2;
                UPDATE sleep_stages_table SET stage_end_time = \(HealthPhone.ms(6));
                UPDATE steps_record_table SET end_time = \(HealthPhone.ms(10)), count = 950, last_modified_time = 2;
                """)
            try await run.pass(Self.soon)
            // The gateway lets the longer ones replace the others: sleeps that overlap, and steps that start together.
            #expect(run.kept.samples(.sleep).map(\.end) == [HealthPhone.at(5), HealthPhone.at(6)])
            #expect(run.kept.samples(.sleep).map(\.value) == [360, 420])
            #expect(run.kept.samples(.steps).map(\.value) == [800, 950])
            #expect(Set(run.kept.samples(.steps).map(\.start)).count == 1 && run.kept.corrected.isEmpty)
        }
    }

    @Test(arguments: ["UTC", "Europe/Berlin", "Pacific/Auckland"])
    func `a journey and a change of the clock double nothing`(zone: String) throws {
        try phone.simulate(zone: zone, deadline: .days(4)) { [phone] run in
            try await run.pass(Self.soon)
            let before = run.kept.count
            // Berlin goes to summer time between both exports, and then the phone flies to Tokyo.
            for offset in [7200, 32_400] {
                try phone.run(
                    """
                    UPDATE steps_record_table SET start_zone_offset = \(offset), end_zone_offset = \(offset), local_date = 20176;
                    UPDATE heart_rate_record_table SET start_zone_offset = \(offset), end_zone_offset = \(offset);
                    UPDATE weight_record_table SET zone_offset = \(offset), local_date = 20176;
                    UPDATE sleep_session_record_table SET start_zone_offset = \(offset), end_zone_offset = NULL;
                    """)
                try await run.pass(.days(1))
                #expect(run.kept.count == before && run.kept.corrected.isEmpty && run.endings.isEmpty)
            }
        }
    }

    @Test func `the choice of an app that is not clear ends the session with what to choose`() throws {
        try phone.run("INSERT INTO application_info_table VALUES (2, 'com.example.fit', 'Fit', NULL, NULL)")
        try phone.instant("weight_record_table", 9, at: HealthPhone.ms(7), app: 2, [("weight", "71500")])
        try phone.simulate { run in
            try await run.pass(Self.soon)
            #expect(run.kept.count == 0)
            #expect(run.endings.first?.contains("com.example.fit, com.example.watch") == true, "\(run.endings)")
        }
    }
}
