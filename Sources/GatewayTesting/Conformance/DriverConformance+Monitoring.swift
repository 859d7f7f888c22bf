import GatewayKit
import Vitals

extension DriverConformance {
    /// What is written must be read back, and what is not written must stay.
    package func checkMonitoring() async -> [String] {
        await session("monitoring") { session, _, findings in
            for metric in session.description.capabilities.metrics(with: .monitor) {
                let abilities = session.description.capabilities.metrics[metric] ?? []
                let original = try await self.configuration(session, metric)
                findings.expect(
                    original.schedule != nil, "\(metric.rawValue) is monitored, but its configuration has no schedule.")
                for part in Self.variations(of: original, abilities) {
                    try await self.write(part, over: original, session, metric, findings)
                    // Back, so that each variation starts from the same.
                    try await self.write(original, over: original, session, metric, findings)
                }
            }
        }
    }

    private func configuration(_ session: any DeviceSession, _ metric: Metric) async throws -> MonitorConfiguration {
        try await inTime("reading the monitoring of \(metric.rawValue)") {
            try await session.monitorConfiguration(of: metric)
        }
    }

    private func write(
        _ part: MonitorConfiguration, over original: MonitorConfiguration, _ session: any DeviceSession,
        _ metric: Metric, _ findings: Findings
    ) async throws {
        try await inTime("writing the monitoring of \(metric.rawValue)") {
            try await session.setMonitorConfiguration(part, of: metric)
        }
        let read = try await configuration(session, metric)
        let expected = original.replacingParts(with: part)
        findings.expect(
            read == expected, "\(metric.rawValue): after writing \(part), \(read) is read instead of \(expected).")
    }

    /// Configurations that each change one part of `original`, of what the device can change.
    static func variations(of original: MonitorConfiguration, _ abilities: Abilities) -> [MonitorConfiguration] {
        var variations: [MonitorConfiguration] = []
        if let schedule = original.schedule {
            var switched = schedule
            switched.isEnabled.toggle()
            variations.append(MonitorConfiguration(schedule: switched))
            if abilities.contains(.scheduleTime) {
                for (start, end) in [(0, 1440), (480, 1200), (485, 490)] {
                    var moved = schedule
                    (moved.start, moved.end) = (start, end)
                    variations.append(MonitorConfiguration(schedule: moved))
                }
            }
            if abilities.contains(.scheduleInterval) {
                for interval in [10, 30, 60] {
                    var paced = schedule
                    paced.interval = interval
                    variations.append(MonitorConfiguration(schedule: paced))
                }
            }
        }
        if abilities.contains(.alert) {
            variations += narrowed(original.alert).map { MonitorConfiguration(alert: $0) }
            if var limits = original.pressureAlert {
                limits.isEnabled.toggle()
                limits.systolicUpper -= 1
                limits.diastolicLower += 1
                variations.append(MonitorConfiguration(pressureAlert: limits))
            }
        }
        if abilities.contains(.restAlert) {
            variations += narrowed(original.restingAlert).map { MonitorConfiguration(restingAlert: $0) }
        }
        if abilities.contains(.exerciseAlert) {
            variations += narrowed(original.exerciseAlert).map { MonitorConfiguration(exerciseAlert: $0) }
        }
        if let maximum = original.exerciseMaximum {
            variations.append(MonitorConfiguration(exerciseMaximum: maximum == 180 ? 181 : 180))
        }
        return variations
    }

    /// The limits switched, and drawn closer by one on each side.
    private static func narrowed(_ limits: AlertLimits?) -> [AlertLimits] {
        guard let limits else { return [] }
        return [
            AlertLimits(isEnabled: !limits.isEnabled, lower: limits.lower, upper: limits.upper),
            AlertLimits(isEnabled: limits.isEnabled, lower: limits.lower + 1, upper: limits.upper - 1),
        ]
    }
}

extension MonitorConfiguration {
    /// This configuration with the parts that `other` has.
    func replacingParts(with other: MonitorConfiguration) -> MonitorConfiguration {
        MonitorConfiguration(
            schedule: other.schedule ?? schedule, alert: other.alert ?? alert,
            restingAlert: other.restingAlert ?? restingAlert, exerciseAlert: other.exerciseAlert ?? exerciseAlert,
            exerciseMaximum: other.exerciseMaximum ?? exerciseMaximum,
            pressureAlert: other.pressureAlert ?? pressureAlert)
    }
}
