package import GatewayKit
package import Vitals

extension DeviceLedger {
    /// What follows from samples that are now in the store. Known ones change nothing.
    package func recording(_ outcomes: [SampleOutcome], in context: IntakeContext) -> Decision {
        var ledger = self
        var decision = Decision(ledger: ledger)
        var measurements = MeasurementCollector(source: context.source)
        var days = OffsetCache(context.calendar)
        var limits = WatchedLimits(context.settings)
        var lastMarked: MetricDay?
        var alerts: [AlertMachine.Outcome] = []
        for outcome in outcomes {
            let stored = outcome.stored
            ledger.rememberWorkout(stored.sample)
            guard outcome.novelty != .known else { continue }
            let isNewest = ledger.isNewest(stored, at: context.now)
            let isFresh = context.freshUntil(stored.sample).map { $0 > context.now } ?? true
            let isHistorical = !isNewest || (context.source == .sync && !isFresh)
            measurements.add(stored, isHistorical: isHistorical)
            ledger.remember(stored, isNewest: isNewest)
            if outcome.novelty == .new {
                alerts += ledger.judge(
                    stored, limits: limits.watching(stored.sample.metric), isLate: isHistorical || !isFresh,
                    in: context)
            }
            if stored.sample.metric != .battery {
                let metricDay = MetricDay(stored.sample.metric, DailySummary.day(of: stored.sample, in: &days))
                if metricDay != lastMarked, ledger.marked.insert(metricDay).inserted {
                    decision.unsettledDays.insert(metricDay)
                }
                lastMarked = metricDay
                if metricDay.day == ledger.today.day { ledger.today.add(outcome) }
            }
        }
        decision.facts = alerts.map { (.alert, .alert($0.event, isLate: $0.isLate)) } + measurements.facts
        decision.levels = ledger.newest(alerts)
        for (metric, mark) in ledger.highWater where highWater[metric] != mark { decision.highWater[metric] = mark }
        decision.ledger = ledger
        return decision
    }

    /// Takes an alert that the device raised itself.
    package func recording(_ alert: DeviceAlert, in context: IntakeContext) -> Decision {
        var ledger = self
        var decision = Decision(ledger: ledger)
        let isLate = context.freshness[alert.rule.metric].map { alert.at + $0 <= context.now } ?? false
        let outcome =
            isLate
            ? ledger.lateAlerts.see(alert, policy: context.policy, calendar: context.calendar)
            : ledger.alerts.see(alert, policy: context.policy, calendar: context.calendar)
        if let outcome {
            decision.facts = [(.alert, .alert(outcome.event, isLate: outcome.isLate))]
            if !isLate { decision.levels = [outcome.level] }
        }
        decision.ledger = ledger
        return decision
    }

    /// Clears the alerts whose limits were switched off, and begins to watch by those that were switched on.
    /// - Parameter before: the settings that were applied last.
    package func recording(
        limitsOf settings: MonitorSettings, before: MonitorSettings, in context: IntakeContext
    ) -> Decision {
        var ledger = self
        var decision = Decision(ledger: ledger)
        let outcomes = ledger.alerts.apply(
            settings, before: before, at: context.now, policy: context.policy, calendar: context.calendar)
        decision.facts = outcomes.map { (.alert, .alert($0.event, isLate: $0.isLate)) }
        decision.levels = outcomes.map(\.level) + ledger.alerts.begin(settings, at: context.now)
        decision.ledger = ledger
        return decision
    }

    private func isNewest(_ stored: StoredSample, at now: Timestamp) -> Bool {
        guard let mark = highWater[stored.sample.metric] else { return true }
        // A mark in the future was set while our own clock was wrong: it would hide everything until then.
        return stored.sample.end > mark || mark > now + SyncPolicy.futureTolerance
    }

    private mutating func remember(_ stored: StoredSample, isNewest: Bool) {
        let metric = stored.sample.metric
        if isNewest {
            highWater[metric] = stored.sample.end
            latest[metric] = stored
        } else if latest[metric]?.id == stored.id {
            latest[metric] = stored
        }
    }

    /// Known ones count, too: after a restart the ledger learns them again from the overlap of a synchronisation.
    private mutating func rememberWorkout(_ sample: Sample) {
        guard sample.metric == .sport, sample.start < sample.end else { return }
        let range = sample.start..<sample.end
        guard !workouts.contains(range) else { return }
        workouts.append(range)
        if workouts.count > Self.maximumWorkouts { workouts.removeFirst() }
    }

    private mutating func judge(
        _ stored: StoredSample, limits: [(rule: AlertRule, limit: Double)], isLate: Bool, in context: IntakeContext
    ) -> [AlertMachine.Outcome] {
        let isExercise = isExercise(stored.sample)
        if isLate || isOvertaken(stored.sample, at: context.now) {
            // Whether it was worn back then is not known.
            return lateAlerts.see(
                stored, isExercise: isExercise, isWorn: true, limits: limits, policy: context.policy,
                calendar: context.calendar)
        }
        lateAlerts.endRun(of: stored.sample.metric)
        return alerts.see(
            stored, isExercise: isExercise, isWorn: context.isWorn, limits: limits,
            policy: context.policy, calendar: context.calendar)
    }

    /// A resting heart rate goes by the rules of the heart rate. One from before the newest of those is late to them: it must
    /// not clear what was raised after it.
    private func isOvertaken(_ sample: Sample, at now: Timestamp) -> Bool {
        guard sample.metric == .restingHeartRate, let newest = highWater[.heartRate] else { return false }
        return sample.end < newest && newest <= now + SyncPolicy.futureTolerance
    }

    /// The level of each rule after the last of its edges that were about now.
    private func newest(_ outcomes: [AlertMachine.Outcome]) -> [AlertLevel] {
        guard !outcomes.isEmpty else { return [] }
        let current = alerts.levels
        return current.filter { level in outcomes.contains { $0.level == level } }
    }
}
