import GatewayKit
import Testing
import Vitals

@Suite struct DocumentReportTests {
    @Test func `counts each outcome`() {
        var report = DocumentReport()
        let refusal = DeviceError(.invalid, "too high")
        for outcome in [SettledReceipt.Outcome.new, .new, .corrected, .known, .refused(refusal), .refused(refusal)] {
            report.count(outcome)
        }
        report.skip("a mood", count: 3)
        #expect(report.new == 2)
        #expect(report.corrected == 1)
        #expect(report.known == 1)
        #expect(report.refused == ["too high": 2])
        #expect(report.skipped == ["a mood": 3])
    }

    @Test func `lists twenty reasons and counts the others`() {
        var report = DocumentReport()
        for number in 0..<25 { report.skip("kind \(number)") }
        report.skip("kind 0")
        #expect(report.skipped.count == DocumentReport.maximumReasons + 1)
        #expect(report.skipped["kind 0"] == 2)
        #expect(report.skipped[DocumentReport.others] == 5)
    }

    @Test func `lists a hundred entries that count and a hundred others, and counts further ones`() {
        var report = DocumentReport()
        for number in 0..<300 {
            report.list(DocumentReport.Entry(path: "samples[\(number)]", .new))
            let isLate = number >= 150
            if isLate { report.list(DocumentReport.Entry(path: "samples[\(number)].unit", .refused, reason: "x")) }
        }
        #expect(report.entries.filter { $0.outcome == .new }.map(\.path) == (0..<100).map { "samples[\($0)]" })
        #expect(
            report.entries.filter { $0.outcome == .refused }.map(\.path) == (150..<250).map { "samples[\($0)].unit" })
        #expect(report.furtherEntries == 250)
    }
}
