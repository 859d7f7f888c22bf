import GatewayKit
import Vitals

extension DriverConformance {
    /// The possible offsets from UTC, in minutes: from 12 hours west to 14 hours east.
    static let offsets = -720...840

    /// Checks that a description is consistent: abilities only where they make sense.
    func checkDescription() async -> [Violation] {
        await session(.description) { session, _, violations in
            let description = session.description
            for (metric, abilities) in description.capabilities.metrics {
                for problem in Self.problems(of: abilities, metric) { violations.add("\(metric.rawValue) \(problem)") }
            }
            if let days = description.capabilities.maximumHistoryDays {
                violations.expect(days > 0, "max_history_days is \(days); it should be positive or not said.")
            }
            if let offset = description.clock?.utcOffset {
                violations.expect(
                    Self.offsets.contains(offset), "the clock is \(offset) minutes from UTC; no place is so far.")
            }
            let identity = description.identity
            let texts = [
                identity.manufacturer, identity.model, identity.serial, identity.firmware, identity.hardware,
            ]
            for case let text? in texts {
                violations.expect(
                    !text.isEmpty && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control },
                    "the identity has the text \(text.debugDescription); it should be readable, or nil.")
            }
        }
    }

    static func problems(of abilities: Abilities, _ metric: Metric) -> [String] {
        var problems: [String] = []
        if !metric.distinguishesExercise, !abilities.isDisjoint(with: .heartRateOnly) {
            problems.append("has abilities that only heart rate has.")
        }
        if !abilities.isDisjoint(with: [.scheduleTime, .scheduleInterval]), !abilities.contains(.monitor) {
            problems.append("has a schedule that can be set, but no automatic monitoring.")
        }
        if !abilities.isDisjoint(with: [.monitor, .alert]), !metric.isMonitored {
            problems.append("cannot be monitored.")
        }
        if abilities.contains(.alert), metric.isMonitored, metric.alertSubjects.isEmpty {
            problems.append("has alert, but no limits.")
        }
        if metric.distinguishesExercise, abilities.contains(.alert),
            abilities.isDisjoint(with: [.restAlert, .exerciseAlert])
        {
            problems.append("has alert, but neither rest_alert nor exercise_alert.")
        }
        if !abilities.isDisjoint(with: [.history, .summary]), !metric.hasHistory {
            problems.append("has no history.")
        }
        if metric.isInterval, abilities.contains(.measure) { problems.append("cannot be measured on demand.") }
        return problems
    }
}
