import GatewayKit
import Vitals

extension DriverConformance {
    /// Checks that written parts are read back, other parts stay, and refused settings change nothing.
    func checkMonitoring() async -> [Violation] {
        await session(.monitoring) { session, _, violations in
            for metric in session.description.capabilities.configurable {
                let abilities = session.description.capabilities.metrics[metric] ?? []
                let original = try await self.configuration(session, metric)
                violations.expect(
                    original.schedule != nil || !abilities.contains(.monitor),
                    "\(metric.rawValue) is monitored, but its configuration has no schedule.")
                let variations = MonitorVariations(of: original, abilities)
                for part in variations.possible {
                    try await self.write(part, over: original, session, metric, violations)
                    // Restores the original, so that each variation starts from it.
                    try await self.write(original, over: original, session, metric, violations)
                }
                guard self.expectation.refusesNonsense else { continue }
                for part in variations.impossible {
                    try await violations.expect([.invalid], "\(metric.rawValue): writing \(part)") {
                        try await self.inTime("writing nonsense") {
                            try await session.setMonitorConfiguration(part)
                        }
                    }
                    let read = try await self.configuration(session, metric)
                    violations.expect(
                        read == original,
                        "\(metric.rawValue): after refusing \(part), \(read) is read instead of \(original).")
                }
            }
        }
    }

    func configuration(_ session: any DeviceSession, _ metric: Metric) async throws -> MonitorConfiguration {
        try await inTime("reading the monitoring of \(metric.rawValue)") {
            try await session.monitorConfiguration(of: metric)
        }
    }

    private func write(
        _ part: MonitorConfiguration, over original: MonitorConfiguration, _ session: any DeviceSession,
        _ metric: Metric, _ violations: Violations
    ) async throws {
        try await inTime("writing the monitoring of \(metric.rawValue)") {
            try await session.setMonitorConfiguration(part)
        }
        let read = try await configuration(session, metric)
        let expected = original.replacingParts(with: part)
        violations.expect(
            read == expected, "\(metric.rawValue): after writing \(part), \(read) is read instead of \(expected).")
    }
}
