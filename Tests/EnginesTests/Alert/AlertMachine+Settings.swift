import Engines
import Vitals

extension AlertMachine {
    /// Checks a sample against the limits of these settings.
    mutating func evaluate(
        _ stored: StoredSample, isExercise: Bool, isWorn: Bool, settings: MonitorSettings, policy: AlertPolicy,
        calendar: LocalCalendar
    ) -> [Outcome] {
        var limits = WatchedLimits(settings)
        return evaluate(
            stored, isExercise: isExercise, isWorn: isWorn, limits: limits.watching(stored.sample.metric),
            policy: policy, calendar: calendar)
    }
}
