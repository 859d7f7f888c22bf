import GatewayKit
import Vitals

extension DriverConformance {
    /// Checks that operations beyond the device's abilities are refused as unsupported.
    ///
    /// `acknowledgeHistory` and `stopMeasurement` are skipped: without the ability, doing nothing is right.
    func checkUnsupported() async -> [Violation] {
        await session(.unsupported) { session, _, violations in
            for metric in Metric.allCases {
                for (ability, what, call) in Self.refusals(of: metric)
                where !Self.has(ability, metric, session.description.capabilities) {
                    try await violations.expect([.unsupported], "\(what) \(metric.rawValue)") {
                        try await self.inTime("\(what) \(metric.rawValue)") { try await call(session) }
                    }
                }
            }
        }
    }

    /// Whether a device has an ability; that to be configured also by its limits alone.
    private static func has(_ ability: Abilities, _ metric: Metric, _ capabilities: Capabilities) -> Bool {
        ability == .monitor ? capabilities.isConfigurable(metric) : capabilities.supports(ability, metric)
    }

    private typealias Call = @Sendable (any DeviceSession) async throws -> Void

    private static func refusals(of metric: Metric) -> [(ability: Abilities, what: String, call: Call)] {
        let beginning = Timestamp(seconds: 0)
        var calls: [(ability: Abilities, what: String, call: Call)] = [
            (
                .history, "history of",
                { _ = try await $0.history(HistoryRequest(metric: metric, from: beginning, to: Timestamp(seconds: 1))) }
            ),
            (
                .summary, "summaries of",
                { _ = try await $0.summaries(of: metric, days: LocalDay(number: 0)...LocalDay(number: 1)) }
            ),
            (.monitor, "reading the monitoring of", { _ = try await $0.monitorConfiguration(of: metric) }),
            (.measure, "measuring", { _ = try await $0.startMeasurement(of: metric, duration: .seconds(1)) }),
        ]
        // A metric that is never monitored has no configuration to set.
        if let settings = try? MonitorConfiguration(of: metric, schedule: Operation.schedule) {
            calls.append(
                (.monitor, "setting the monitoring of", { try await $0.setMonitorConfiguration(settings) }))
        }
        return calls
    }
}
