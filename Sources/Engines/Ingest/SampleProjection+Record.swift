package import GatewayKit
package import Vitals

extension SampleProjection {
    /// Follows samples that are now in the store. Known samples change nothing.
    /// - Returns: their consequences, which are to be stored as well.
    package mutating func record(_ outcomes: [SampleOutcome], in context: IngestContext) -> IngestOutcome {
        var decision = IngestOutcome()
        let formerMarks = highWater
        var measurements = MeasurementCollector(source: context.source, wearers: context.wearers)
        var days = OffsetCache(context.calendar)
        var limits = WatchedLimits(context.settings)
        var lastMarked: MetricDay?
        var forgotten: Set<Metric> = []
        var edges: [AlertMachine.Outcome] = []
        var moved: [AlertLevel] = []
        var waiting: [StoredSample] = []
        let hasZones = context.settings.exerciseMaximum != nil
        for outcome in outcomes {
            let stored = outcome.stored
            if stored.isWithdrawn, stored.sample.whose != nil, outcome.novelty != .withdrawn {
                // It waits for its person, or is nobody's: nobody knows its value.
                if outcome.novelty == .new { waiting.append(stored) }
                continue
            }
            rememberWorkout(stored)
            guard outcome.novelty != .known else {
                // The newest of those that are left, now that the newest of all was taken back.
                let metric = stored.sample.metric
                let isKept = stored.sample.claim != .correction
                if forgotten.contains(metric), latest[metric] == nil, isKept { latest[metric] = stored }
                continue
            }
            if stored.isWithdrawn {
                if forget(stored) { forgotten.insert(stored.sample.metric) }
                measurements.add(withdrawn: stored)
            } else {
                let isNewest = isNewest(stored, at: context.now)
                let isFresh = context.freshUntil(stored.sample).map { $0 > context.now } ?? true
                let isPast = context.now - stored.sample.end > Self.presence
                let isHistorical = !isNewest || isPast || (context.source == .sync && !isFresh)
                measurements.add(stored, isHistorical: isHistorical)
                remember(stored, isNewest: isNewest)
                if outcome.novelty == .new {
                    edges += evaluate(
                        stored, limits: limits.watching(stored.sample.metric), isLate: !isNewest || !isFresh,
                        in: context)
                }
            }
            if stored.sample.whose != nil, outcome.novelty != .new {
                let followed = alerts.follow(
                    stored, at: context.now, policy: context.policy, calendar: context.calendar)
                edges += followed.cleared
                moved += followed.levels
            }
            if stored.sample.metric.hasHistory {
                let metricDay = MetricDay(stored.sample.metric, DailySummary.day(of: stored.sample, in: &days))
                if metricDay != lastMarked, marked.insert(metricDay).inserted {
                    decision.unsettledDays.insert(metricDay)
                }
                lastMarked = metricDay
                if metricDay.day == today.day { today.add(outcome) }
                if outcome.novelty == .corrected, stored.sample.utcOffset != nil {
                    // Before its source said where it was, it was of the day in the configured zone.
                    let former = MetricDay(
                        metricDay.metric, days.day(of: DailySummary.decisiveMoment(of: stored.sample)))
                    if marked.insert(former).inserted { decision.unsettledDays.insert(former) }
                    if former.day == today.day { today.outdate(former.metric) }
                }
            }
            // A heart rate that comes after its workout still counts in the workout's zones.
            if hasZones, stored.sample.metric.distinguishesExercise,
                let workout = workout(at: stored.sample.start)
            {
                let day = workout.day ?? days.day(of: workout.range.lowerBound)
                let sport = MetricDay(.sport, day)
                if marked.insert(sport).inserted { decision.unsettledDays.insert(sport) }
                if day == today.day { today.outdate(.sport) }
            }
        }
        let questions = Question.list(of: waiting).map { (lane: Lane.alert, content: Fact.Content.question($0)) }
        decision.facts = edges.map { (.alert, .alert($0.event, isLate: $0.isLate)) } + questions + measurements.facts()
        decision.levels = newest(edges) + moved.filter { level in alerts.levels.contains(level) }
        for (metric, mark) in highWater where formerMarks[metric] != mark { decision.highWater[metric] = mark }
        decision.latest = latest.mapValues { SampleKey($0.sample) }
        return decision
    }

    /// Whether these samples, as new ones, would change the level of an alert. A guess: the decision is made when they are
    /// stored.
    /// - Parameter preview: the alerts after earlier samples; `nil` for the present ones.
    func wouldAlert(_ samples: [Sample], preview: inout AlertMachine?, in context: IngestContext) -> Bool {
        var limits = WatchedLimits(context.settings)
        for sample in samples {
            let watched = limits.watching(sample.metric)
            if watched.isEmpty { continue }
            let stored = StoredSample(
                sample: sample, id: SampleID(high: 0, low: 0), revision: 1, receivedAt: context.now)
            var machine = preview ?? alerts
            let outcomes = machine.evaluate(
                stored, isExercise: isExercise(sample), isWorn: context.isWorn, limits: watched, policy: context.policy,
                calendar: context.calendar)
            preview = machine
            if !outcomes.isEmpty { return true }
        }
        return false
    }

    /// Handles an alert that the device itself raised or cleared.
    package mutating func record(_ alert: DeviceAlert, in context: IngestContext) -> IngestOutcome {
        var decision = IngestOutcome()
        let isLate = context.freshness[alert.rule.metric].map { alert.at + $0 <= context.now } ?? false
        let outcome =
            isLate
            ? lateAlerts.evaluate(alert, policy: context.policy, calendar: context.calendar)
            : alerts.evaluate(alert, policy: context.policy, calendar: context.calendar)
        if let outcome {
            decision.facts = [(.alert, .alert(outcome.event, isLate: outcome.isLate))]
            if !isLate { decision.levels = [outcome.level] }
        }
        return decision
    }

    /// Handles what the device recorded that it warned of. Each is an edge of its own, with an id by its rule and time alone; the store
    /// drops those that it knows.
    package func record(warnings: [DeviceAlert], in context: IngestContext) -> IngestOutcome {
        var decision = IngestOutcome()
        for warning in warnings {
            let (rule, at) = (warning.rule, warning.at)
            let edge = AlertEvent.Edge.raised
            let isLate = context.freshness[rule.metric].map { at + $0 <= context.now } ?? false
            let isQuiet = context.policy.isQuiet(rule, minute: context.calendar.minuteOfDay(at))
            let event = AlertEvent(
                id: SampleID(name: "\(device.text)|\(rule.name)|\(edge.rawValue)|\(at.milliseconds)"), rule: rule,
                edge: edge, value: warning.value, limit: warning.limit, origin: .device, measuredAt: at, raisedAt: at,
                sampleID: nil)
            decision.facts.append((.alert, .alert(event, isLate: isLate || isQuiet)))
        }
        return decision
    }

    /// Clears alerts whose limits were removed, and gives rules with new limits their first level.
    /// - Parameter before: the settings that were applied last.
    package mutating func record(
        limitsOf settings: MonitorSettings, before: MonitorSettings, in context: IngestContext
    ) -> IngestOutcome {
        var decision = IngestOutcome()
        let outcomes = alerts.apply(
            settings, before: before, at: context.now, policy: context.policy, calendar: context.calendar)
        decision.facts = outcomes.map { (.alert, .alert($0.event, isLate: $0.isLate)) }
        decision.levels = outcomes.map(\.level) + alerts.begin(settings, at: context.now)
        return decision
    }

    private func isNewest(_ stored: StoredSample, at now: Timestamp) -> Bool {
        // Beside it there is one of an earlier source.
        if stored.sample.isBeside { return false }
        guard let mark = highWater[stored.sample.metric] else { return true }
        // A mark in the future was set while the gateway's clock was wrong, and would hide every sample until then. If the
        // sample is in the future as well, the clock is wrong now, and the mark holds.
        let latestPossible = now + SyncPolicy.futureTolerance
        return stored.sample.end > mark || mark > latestPossible && stored.sample.end <= latestPossible
    }

    private mutating func remember(_ stored: StoredSample, isNewest: Bool) {
        let metric = stored.sample.metric
        if isNewest {
            highWater[metric] = stored.sample.end
            latest[metric] = stored
        } else if latest[metric]?.isSameRecord(as: stored) == true {
            latest[metric] = stored
        }
    }

    /// Forgets a withdrawn sample. Its replacement, if there is one, ends after its start, and is the newest now.
    /// - Returns: whether it was the newest.
    private mutating func forget(_ stored: StoredSample) -> Bool {
        let sample = stored.sample
        guard latest[sample.metric]?.isSameRecord(as: stored) == true else { return false }
        latest[sample.metric] = nil
        // A value that comes again is the newest one again.
        let before = sample.metric.isInterval ? sample.start : sample.start - .milliseconds(1)
        if let mark = highWater[sample.metric] { highWater[sample.metric] = min(mark, before) }
        return true
    }

    /// Remembers known workouts, too: after a restart they come again with a synchronisation's overlap.
    private mutating func rememberWorkout(_ stored: StoredSample) {
        let sample = stored.sample
        guard sample.metric.shape == .session, sample.start < sample.end else { return }
        // Another record may have the same times: a device that lists a workout as manual and as automatic.
        let id = stored.id
        if stored.isWithdrawn { return workouts.removeAll { $0.id == id } }
        guard !workouts.contains(where: { $0.id == id }) else { return }
        workouts.append(
            Workout(id: id, range: sample.start..<sample.end, day: DailySummary.ownDay(of: sample)))
        if workouts.count > Self.maximumWorkouts { workouts.removeFirst() }
    }

    private mutating func evaluate(
        _ stored: StoredSample, limits: [(rule: AlertRule, limit: Double)], isLate: Bool, in context: IngestContext
    ) -> [AlertMachine.Outcome] {
        let isExercise = isExercise(stored.sample)
        if isLate || isOlderThanHeartRate(stored.sample, at: context.now) {
            // Whether the device was worn then is unknown.
            return lateAlerts.evaluate(
                stored, isExercise: isExercise, isWorn: true, limits: limits, policy: context.policy,
                calendar: context.calendar)
        }
        lateAlerts.endRun(of: stored.sample.metric)
        return alerts.evaluate(
            stored, isExercise: isExercise, isWorn: context.isWorn, limits: limits,
            policy: context.policy, calendar: context.calendar)
    }

    /// Whether a resting heart rate is older than the newest heart rate. It is then late for the heart rate's rules,
    /// which it shares, and must not clear an alert raised after it.
    private func isOlderThanHeartRate(_ sample: Sample, at now: Timestamp) -> Bool {
        guard let whole = sample.metric.restOf, let newest = highWater[whole] else { return false }
        return sample.end < newest && newest <= now + SyncPolicy.futureTolerance
    }

    /// The current levels that were set by these outcomes.
    private func newest(_ outcomes: [AlertMachine.Outcome]) -> [AlertLevel] {
        guard !outcomes.isEmpty else { return [] }
        let current = alerts.levels
        return current.filter { level in outcomes.contains { $0.level == level } }
    }
}

/// A device's limits, looked up once per batch of samples.
package struct WatchedLimits: Sendable {
    private let settings: MonitorSettings
    private var byMetric: [Metric: [(rule: AlertRule, limit: Double)]] = [:]

    package init(_ settings: MonitorSettings) { self.settings = settings }

    /// The rules that apply to samples of this metric and have a limit, with the limit.
    package mutating func watching(_ metric: Metric) -> [(rule: AlertRule, limit: Double)] {
        if let known = byMetric[metric] { return known }
        let found = AlertRule.watching(metric).compactMap { rule in rule.limit(in: settings).map { (rule, $0) } }
        byMetric[metric] = found
        return found
    }
}
