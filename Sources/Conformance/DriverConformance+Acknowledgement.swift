import GatewayKit
import Vitals

extension DriverConformance {
    /// Checks that a device is informed how far its history is durable, and keeps all later records.
    func checkAcknowledgement() async -> [Violation] {
        await session(.acknowledgement) { session, peer, violations in
            for metric in session.description.capabilities.metrics(with: .history) {
                guard let records = self.expectation.history[metric], let first = records.first, let last = records.last
                else { continue }
                let middle = records[records.count / 2].start
                for through in [first.start, middle, last.start] {
                    let name = "the acknowledgement of \(metric.rawValue) through \(through)"
                    try await self.inTime("sending \(name)") {
                        try await session.acknowledgeHistory(of: metric, through: through)
                    }
                    await self.expectCall(name, peer, violations) {
                        $0.contains(.acknowledged(metric, through: through))
                    }
                    let left = try await self.read(
                        session,
                        HistoryRequest(
                            metric: metric, from: through + .milliseconds(1), to: last.start + .milliseconds(1)),
                        violations)
                    self.compare(
                        left, records.filter { $0.start > through }, "\(metric.rawValue) after \(through)", violations)
                }
            }
        }
    }
}
