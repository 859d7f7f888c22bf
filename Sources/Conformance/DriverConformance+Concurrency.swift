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

    /// How often each kind of call is cancelled, each time a little earlier.
    static let cancellations = 20

    /// Checks that a cancelled call breaks neither the session nor the answers to later calls.
    func checkCancellation() async -> [Violation] {
        await session(.cancellation) { session, _, violations in
            let operations = Operation.all(of: session.description).filter(\.isHarmless)
            let monitored = session.description.capabilities.metrics(with: .monitor).first
            var written: MonitorConfiguration?
            if let monitored {
                try await self.inTime("writing the monitoring of \(monitored.rawValue)") {
                    try await session.setMonitorConfiguration(
                        MonitorConfiguration(of: monitored, schedule: Operation.schedule))
                }
                // A device without a schedule that can be set keeps its own.
                written = try await self.configuration(session, monitored)
            }
            for operation in operations {
                for turns in (0..<Self.cancellations).reversed() {
                    await withTaskGroup { group in
                        // It may complete or be cancelled; only the later calls are checked.
                        group.addTask { try? await operation.call(session) }
                        for _ in 0..<turns { await Task.yield() }
                        group.cancelAll()
                    }
                }
            }
            try await self.inTime("a ping after cancelled calls") { try await session.ping() }
            if let written {
                let read = try await self.configuration(session, written.metric)
                violations.expect(
                    read.schedule == written.schedule, "after cancelled calls, \(read) is read instead of \(written).")
            }
            let metrics = session.description.capabilities.metrics(with: .history)
            guard let metric = metrics.first(where: { self.expectation.history[$0]?.isEmpty == false }),
                let records = self.expectation.history[metric], let first = records.first, let last = records.last
            else { return }
            let read = try await self.read(
                session,
                HistoryRequest(metric: metric, from: first.start, to: last.start + .milliseconds(1)), violations)
            self.compare(read, records, "after cancelled calls", violations)
        }
    }
}
