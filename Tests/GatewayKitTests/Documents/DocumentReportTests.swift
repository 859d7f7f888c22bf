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
}
