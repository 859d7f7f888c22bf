package import Logging
import Synchronization

/// Why records of a device's documents are refused or skipped, for the log: each reason the first time, and whenever the number of its
/// records has doubled. A reason has no health values.
package final class DocumentReasons: Sendable {
    /// The most reasons of a device that are counted apart: ten times as many as a document lists. Further ones count together.
    package static let maximumReasons = 10 * DocumentReport.maximumReasons

    private let totals = Mutex<[String: Int]>([:])

    package init() {}

    /// Counts the records of a stored document, and logs the reasons that are due.
    package func log(_ report: DocumentReport, to logger: Logger) {
        log("Samples of a document were refused.", report.refused, to: logger)
        let taken = report.new + report.corrected + report.known + report.superseded
        let isEmpty = taken == 0 && report.refused.isEmpty
        log(
            isEmpty ? "Nothing of a document was taken." : "Records of a document were skipped.", report.skipped,
            to: logger)
    }

    /// Logs the reasons that are due, and how many records have had them by now.
    private func log(_ message: Logger.Message, _ reasons: [String: Int], to logger: Logger) {
        let due = totals.withLock { totals -> [String: Int] in
            var due: [String: Int] = [:]
            for (name, count) in reasons.sorted(by: { $0.key < $1.key }) {
                let reason = totals[name] != nil || totals.count < Self.maximumReasons ? name : DocumentReport.others
                let total = totals[reason, default: 0] + count
                totals[reason] = total
                if total.leadingZeroBitCount < (total - count).leadingZeroBitCount { due[reason] = total }
            }
            return due
        }
        guard !due.isEmpty else { return }
        logger.notice(
            message,
            metadata: [
                "count": "\(due.values.reduce(0, +))", "reasons": "\(due.keys.sorted().joined(separator: "; "))",
            ])
    }
}
