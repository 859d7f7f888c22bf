import Foundation
import GatewayKit
import Testing
import Vitals

@testable import Phones

/// A first import of years.
@Suite struct SizeTests {
    /// The memory of this process that is in use, in bytes.
    private static func memory() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        return try #require(Int(text.split(separator: " ")[1])) * 4096
    }

    /// In its own process, so that no other test counts.
    @Test func `a million rows are read in less than 30 MB`() async {
        await #expect(processExitsWith: .success) {
            // An error that leaves this closure would not be reported.
            do { try SizeTests.readMillion() } catch { Issue.record(error) }
        }
    }

    private static func readMillion() throws {
        let phone = try GadgetbridgePhone()
        try phone.table("GENERIC_HEART_RATE_SAMPLE", "HEART_RATE I!")
        try phone.run(
            """
            WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999999)
            INSERT INTO GENERIC_HEART_RATE_SAMPLE SELECT (\(GadgetbridgePhone.midnight) - i * 60) * 1000, 1, 1, 60 + i % 40 FROM n
            """)
        let before = try memory()
        let export = try phone.open()
        let calendar = try #require(LocalCalendar(identifier: "UTC"))
        var (count, sum, pages) = (0, 0.0, 0)
        var page: String?
        repeat {
            let found = try export.page(
                .init(metric: .heartRate, from: Timestamp(seconds: 0), to: GadgetbridgePhone.at(1), page: page),
                calendar: calendar,
                now: GadgetbridgePhone.at(1))
            count += found.samples.count
            sum += found.samples.compactMap(\.value).reduce(0, +)
            pages += 1
            page = found.next
        } while page != nil
        // 25,000 times 60 + … + 99.
        #expect(count == 1_000_000 && sum == 79_500_000 && pages == 500)
        // The samples alone would be more than 100 MB.
        #expect(try memory() - before < 30_000_000)
    }
}
