import GatewayKit
import Logging
import TestSupport
import Testing
import Vitals

@Suite struct DocumentReasonsTests {
    private static func report(_ reasons: String..., known: Int = 1) -> DocumentReport {
        var report = DocumentReport()
        report.known = known
        for reason in reasons { report.skip(reason) }
        return report
    }

    @Test func `why records are left out is logged the first time, and whenever their number has doubled`() {
        let (reasons, log) = (DocumentReasons(), LogRecorder())
        for _ in 0..<10 { reasons.log(Self.report("a mood"), to: log.logger) }
        reasons.log(Self.report("a mood", "a dream"), to: log.logger)
        reasons.log(Self.report(), to: log.logger)
        #expect(log.entries.map { $0.metadata["count"] } == ["1", "2", "4", "8", "1"])
        #expect(log.entries.allSatisfy { $0.level == .notice && $0.message == "Records of a document were skipped." })
        #expect(log.entries.map { $0.metadata["reasons"] } == ["a mood", "a mood", "a mood", "a mood", "a dream"])
    }

    @Test func `refused samples and a document of which nothing is taken are told apart`() {
        let (reasons, log) = (DocumentReasons(), LogRecorder())
        reasons.log(Self.report("a mood", known: 0), to: log.logger)
        var refused = Self.report("a dream", known: 0)
        refused.count(.refused(DeviceError(.invalid, "value: must be a number from 20 to 300")))
        reasons.log(refused, to: log.logger)
        #expect(
            log.entries.map(\.message) == [
                "Nothing of a document was taken.", "Samples of a document were refused.",
                "Records of a document were skipped.",
            ])
    }

    @Test func `further reasons of a device than are counted apart count together`() {
        let (reasons, log) = (DocumentReasons(), LogRecorder())
        for number in 0..<DocumentReasons.maximumReasons + 3 { reasons.log(Self.report("\(number)"), to: log.logger) }
        let last = log.entries.suffix(2)
        #expect(last.map { $0.metadata["reasons"] } == [DocumentReport.others, DocumentReport.others])
        #expect(last.map { $0.metadata["count"] } == ["1", "2"])
        #expect(log.entries.count == DocumentReasons.maximumReasons + 2)
    }
}
