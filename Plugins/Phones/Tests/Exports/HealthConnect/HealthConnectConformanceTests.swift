import Foundation
import Testing
import Vitals

@testable import Phones

@Suite struct HealthConnectConformanceTests {
    @Test func `does what every driver must do`() throws {
        let phone = try HealthPhone()
        try phone.interval("heart_rate_record_table", 1, HealthPhone.ms(0), HealthPhone.ms(30))
        try phone.run(
            """
            WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2499)
            INSERT INTO heart_rate_record_series_table SELECT 1, 50 + i % 90, \(HealthPhone.ms(0)) + i * 30000 FROM n
            """)
        for hour in 0..<20 {
            try phone.interval(
                "steps_record_table", hour + 1, HealthPhone.ms(Int64(hour)), HealthPhone.ms(Int64(hour), 45),
                [("count", "\(hour * 7 + 1)")])
        }
        try phone.interval(
            "exercise_session_record_table", 1, HealthPhone.ms(8), HealthPhone.ms(9), [("exercise_type", "53")])
        try phone.interval("sleep_session_record_table", 1, HealthPhone.ms(-1), HealthPhone.ms(5))
        try phone.run("INSERT INTO sleep_stages_table VALUES (1, \(HealthPhone.ms(-1)), \(HealthPhone.ms(5)), 6)")
        try ExportConformance.expect(
            of: HealthConnectExportOptions(path: phone.file.path), at: HealthPhone.at(60),
            with: [.heartRate, .steps, .sport, .sleep],
            read: { try phone.samples($0, zone: "Europe/Berlin", limit: 2000) },
            context: { try HealthPhone.context(clock: $0, zone: "Europe/Berlin") })
    }
}
