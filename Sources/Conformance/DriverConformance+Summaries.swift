import GatewayKit
import Vitals

extension DriverConformance {
    /// Checks that a device's own summaries are complete and ascending, with each day once, and only for the requested
    /// days.
    func checkSummaries() async -> [Violation] {
        await session(.summaries) { session, _, violations in
            let metrics = session.description.capabilities.metrics(with: .summary)
            for (metric, days) in self.expectation.summaries where !days.isEmpty {
                violations.expect(
                    metrics.contains(metric),
                    "\(metric.rawValue) has summaries, but the capabilities do not name the ability.")
            }
            guard !metrics.isEmpty else { return }
            guard let days = self.expectation.summaryDays else {
                violations.add("the device makes summaries, but the expectation says of no day what they are.")
                return
            }
            for metric in metrics {
                try await self.compare(metric, days, session, violations)
                var day = days.lowerBound
                while day <= days.upperBound {
                    try await self.compare(metric, day...day, session, violations)
                    day = day.advanced(by: 1)
                }
            }
        }
    }

    private func compare(
        _ metric: Metric, _ days: ClosedRange<LocalDay>, _ session: any DeviceSession, _ violations: Violations
    ) async throws {
        let read = try await inTime("the summaries of \(metric.rawValue)") {
            try await session.summaries(of: metric, days: days)
        }
        let expected = (expectation.summaries[metric] ?? []).filter { days.contains($0.day) }
        let what = "\(metric.rawValue), \(days.lowerBound) to \(days.upperBound)"
        guard read.map(\.day) == expected.map(\.day) else {
            violations.add(
                "\(what): the days are \(read.map { "\($0.day)" }) instead of \(expected.map { "\($0.day)" }).")
            return
        }
        for (read, expected) in zip(read, expected) where !read.hasSameContent(as: expected) {
            violations.add(
                "\(what): the summary of \(read.day) is \(read.withoutReceipt) instead of \(expected.withoutReceipt).")
        }
    }
}
