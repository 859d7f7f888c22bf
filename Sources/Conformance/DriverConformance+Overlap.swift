import GatewayKit
import Vitals

extension DriverConformance {
    /// Checks that overlapping calls of several tasks get their own answers.
    func checkOverlap() async -> [Violation] {
        await session(.overlap) { session, _, violations in
            let capabilities = session.description.capabilities
            let monitored = capabilities.configurable
            var settings: [Metric: MonitorConfiguration] = [:]
            for metric in monitored { settings[metric] = try await self.configuration(session, metric) }
            try await withThrowingTaskGroup { [settings] group in
                for metric in capabilities.metrics(with: .history) {
                    guard let records = self.expectation.history[metric], let first = records.first,
                        let last = records.last
                    else { continue }
                    for pages in [1, 3] {
                        let request = HistoryRequest(
                            metric: metric, from: first.start, to: last.start + .milliseconds(1),
                            limit: min(records.count / pages + 1, HistoryRequest.maximumLimit))
                        group.addTask {
                            let read = try await self.read(session, request, violations)
                            self.compare(read, records, "\(metric.rawValue)", violations)
                        }
                    }
                }
                for metric in monitored {
                    group.addTask {
                        let read = try await self.configuration(session, metric)
                        violations.expect(
                            read == settings[metric],
                            "\(metric.rawValue): \(read) is read instead of \(settings[metric], default: "nothing").")
                    }
                }
                group.addTask { try await self.inTime("a ping") { try await session.ping() } }
                try await group.waitForAll()
            }
        }
    }
}
