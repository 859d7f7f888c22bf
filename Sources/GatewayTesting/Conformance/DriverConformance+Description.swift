import GatewayKit
import Vitals

extension DriverConformance {
    /// How far from UTC a place can be, in minutes: 12 hours west, 14 hours east.
    static let offsets = -720...840

    /// A description must be consistent: abilities only where they mean something.
    package func checkDescription() async -> [String] {
        await session("description") { session, _, findings in
            let description = session.description
            for (metric, abilities) in description.capabilities.metrics {
                for problem in Self.problems(of: abilities, metric) { findings.add("\(metric.rawValue) \(problem)") }
            }
            if let days = description.capabilities.maximumHistoryDays {
                findings.expect(days > 0, "max_history_days is \(days); it should be positive or not said.")
            }
            if let offset = description.clock?.utcOffset {
                findings.expect(
                    Self.offsets.contains(offset), "the clock is \(offset) minutes from UTC; no place is so far.")
            }
            let identity = description.identity
            let texts = [
                identity.manufacturer, identity.model, identity.serial, identity.firmware, identity.hardware,
            ]
            for case let text? in texts {
                findings.expect(
                    !text.isEmpty && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control },
                    "the identity has the text \(text.debugDescription); it should be readable, or nil.")
            }
        }
    }

    static func problems(of abilities: Abilities, _ metric: Metric) -> [String] {
        var problems: [String] = []
        if metric != .heartRate, !abilities.isDisjoint(with: .heartRateOnly) {
            problems.append("has abilities that only heart rate has.")
        }
        if !abilities.isDisjoint(with: [.scheduleTime, .scheduleInterval]), !abilities.contains(.monitor) {
            problems.append("has a schedule that can be set, but no automatic monitoring.")
        }
        if !abilities.isDisjoint(with: [.monitor, .alert]), !Metric.monitored.contains(metric) {
            problems.append("cannot be monitored.")
        }
        if metric == .heartRate, abilities.contains(.alert), abilities.isDisjoint(with: [.restAlert, .exerciseAlert]) {
            problems.append("has alert, but neither rest_alert nor exercise_alert.")
        }
        if !abilities.isDisjoint(with: [.history, .summary]), !Metric.synchronised.contains(metric) {
            problems.append("has no history.")
        }
        if metric.isInterval, abilities.contains(.measure) { problems.append("cannot be measured on demand.") }
        return problems
    }
}
