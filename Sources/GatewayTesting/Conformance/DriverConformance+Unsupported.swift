import GatewayKit
import Vitals

extension DriverConformance {
    /// What a device cannot do must be refused as unsupported, and not tried.
    ///
    /// `acknowledgeHistory` and `stopMeasurement` are not asked: doing nothing is right for a device without.
    package func checkUnsupported() async -> [String] {
        await session("unsupported") { session, _, findings in
            for metric in Metric.allCases {
                for (ability, what, call) in Self.refusals(of: metric)
                where !session.description.capabilities.supports(ability, metric) {
                    await findings.expect([.unsupported], "\(what) \(metric.rawValue)") {
                        try await self.inTime("\(what) \(metric.rawValue)") { try await call(session) }
                    }
                }
            }
        }
    }

    private typealias Call = @Sendable (any DeviceSession) async throws -> Void

    private static func refusals(of metric: Metric) -> [(ability: Abilities, what: String, call: Call)] {
        let beginning = Timestamp(seconds: 0)
        let settings = MonitorConfiguration(
            schedule: MonitorSchedule(isEnabled: true, start: 0, end: 1440, interval: 60))
        return [
            (
                .history, "history of",
                { _ = try await $0.history(HistoryRequest(metric: metric, from: beginning, to: Timestamp(seconds: 1))) }
            ),
            (
                .summary, "summaries of",
                { _ = try await $0.summaries(of: metric, days: LocalDay(number: 0)...LocalDay(number: 1)) }
            ),
            (.monitor, "reading the monitoring of", { _ = try await $0.monitorConfiguration(of: metric) }),
            (.monitor, "setting the monitoring of", { try await $0.setMonitorConfiguration(settings, of: metric) }),
            (.measure, "measuring", { _ = try await $0.startMeasurement(of: metric, duration: .seconds(1)) }),
        ]
    }
}
