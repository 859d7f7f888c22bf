package import GatewayKit
package import Vitals

/// Watches one device's values: turns samples and the device's own alerts into edges, each reported once.
///
/// One machine watches current values; a second one, whose levels are not published, evaluates late data, by the present
/// limits: earlier ones are not known.
package struct AlertMachine: Sendable {
    /// The result of a value that changed a level.
    package struct Outcome: Sendable, Hashable {
        package var event: AlertEvent
        /// Whether the event goes only to the history: it is late, or falls into quiet hours.
        package var isLate: Bool
        package var level: AlertLevel
    }

    /// State of a rule.
    private struct Watch: Sendable {
        var level: AlertLevel
        /// Whether the level was published.
        var isReported = false
        var beyond = 0
        /// When the newest value was measured.
        var seenAt: Timestamp?
    }

    private let device: DeviceID
    /// Whether this machine evaluates late data.
    private let isLate: Bool
    private var watches: [AlertRule: Watch] = [:]
    /// How fast values change, of metrics with such a limit.
    private var rates: [Metric: RateOfChange] = [:]

    package init(device: DeviceID, isLate: Bool = false, levels: [AlertRule: AlertLevel] = [:]) {
        self.device = device
        self.isLate = isLate
        for (rule, level) in levels { watches[rule] = Watch(level: level, isReported: true) }
    }

    /// Levels of all rules that ever had a limit or an edge.
    package var levels: [AlertLevel] {
        AlertRule.all.compactMap { watches[$0].flatMap { $0.isReported ? $0.level : nil } }
    }

    /// Whether `apply` or `begin` would change something for these settings.
    /// - Parameter before: the settings that were applied last.
    package func isBehind(_ settings: MonitorSettings, before: MonitorSettings) -> Bool {
        AlertRule.all.contains { rule in
            let limit = rule.limit(in: settings)
            if limit != nil, watches[rule]?.isReported != true { return true }
            return isSwitchedOff(rule, settings, before: before)
                || watches[rule]?.beyond ?? 0 > 0 && limit != rule.limit(in: before)
        }
    }

    /// Whether an active alert has lost its limit. An alert that the device raised by its own limit has lost none.
    private func isSwitchedOff(_ rule: AlertRule, _ settings: MonitorSettings, before: MonitorSettings) -> Bool {
        guard let level = watches[rule]?.level, level.isActive, rule.limit(in: settings) == nil else { return false }
        return level.limit != nil || rule.limit(in: before) != nil
    }

    /// Gives each rule that now has a limit for the first time its first level, `ok`. Returns these levels.
    package mutating func begin(_ settings: MonitorSettings, at now: Timestamp) -> [AlertLevel] {
        var begun: [AlertLevel] = []
        for rule in AlertRule.all where rule.limit(in: settings) != nil && watches[rule]?.isReported != true {
            var watch = watches[rule] ?? Watch(level: AlertLevel(rule: rule, isActive: false, since: now))
            watch.isReported = true
            watches[rule] = watch
            begun.append(watch.level)
        }
        return begun
    }

    /// Evaluates a new sample against the limits of its metric.
    package mutating func evaluate(
        _ stored: StoredSample, isExercise: Bool, isWorn: Bool, limits: [(rule: AlertRule, limit: Double)],
        policy: AlertPolicy, calendar: LocalCalendar
    ) -> [Outcome] {
        guard isWorn || policy.countsWhenNotWorn else { return [] }
        var outcomes: [Outcome] = []
        let hasRate = limits.contains { $0.rule.subject == .rate }
        let rate = hasRate ? rates[stored.sample.metric, default: RateOfChange()].add(stored.sample) : nil
        for (rule, limit) in limits {
            let edge: Outcome?
            if let value = rule.subject == .rate ? rate : rule.value(in: stored.sample, isExercise: isExercise) {
                edge = evaluate(
                    rule, value: value, limit: limit, of: stored, policy: policy,
                    calendar: calendar)
            } else {
                edge = end(rule, at: stored.sample.end, policy: policy, calendar: calendar)
            }
            guard var edge else { continue }
            edge.event.user = stored.sample.user
            edge.level.user = stored.sample.user
            watches[rule]?.level.user = stored.sample.user
            outcomes.append(edge)
        }
        return outcomes
    }

    /// Handles an alert that the device itself raised or cleared.
    package mutating func evaluate(
        _ alert: DeviceAlert, policy: AlertPolicy, calendar: LocalCalendar
    ) -> Outcome? {
        var watch = watches[alert.rule] ?? Watch(level: AlertLevel(rule: alert.rule, isActive: false, since: alert.at))
        // The gateway detected it first: one edge is enough.
        guard watch.level.isActive != (alert.edge == .raised) else { return nil }
        defer { watches[alert.rule] = watch }
        return change(
            &watch, to: alert.edge, value: alert.value, limit: nil, origin: .device, at: alert.at, id: nil,
            policy: policy, calendar: calendar)
    }

    /// Clears alerts whose limits were removed, and restarts the count where a limit changed.
    /// - Parameter before: the settings that were applied last.
    package mutating func apply(
        _ settings: MonitorSettings, before: MonitorSettings, at now: Timestamp, policy: AlertPolicy,
        calendar: LocalCalendar
    ) -> [Outcome] {
        var outcomes: [Outcome] = []
        for rule in AlertRule.all where rule.limit(in: settings) != rule.limit(in: before) {
            watches[rule]?.beyond = 0
        }
        for rule in AlertRule.all where isSwitchedOff(rule, settings, before: before) {
            guard var watch = watches[rule] else { continue }
            outcomes.append(
                change(
                    &watch, to: .cleared, value: nil, limit: nil, origin: .gateway, at: now, id: nil, policy: policy,
                    calendar: calendar))
            watches[rule] = watch
        }
        return outcomes
    }

    /// Notes that a person has seen the alert whose edge has this id. Who was first stays.
    /// - Returns: its level; `nil` if no alert is active with this id.
    package mutating func acknowledge(_ id: SampleID, by person: String, at now: Timestamp) -> AlertLevel? {
        guard let rule = watches.first(where: { $0.value.level.isActive && $0.value.level.lastID == id })?.key else {
            return nil
        }
        if watches[rule]?.level.acknowledgement == nil {
            watches[rule]?.level.acknowledgement = Acknowledgement(by: person, at: now)
        }
        return watches[rule]?.level
    }

    /// Follows a sample that has got another person, or is nobody's any more: the level that it caused is that person's, or is over.
    mutating func follow(
        _ stored: StoredSample, at now: Timestamp, policy: AlertPolicy, calendar: LocalCalendar
    ) -> (cleared: [Outcome], levels: [AlertLevel]) {
        var (cleared, levels) = ([Outcome](), [AlertLevel]())
        for rule in AlertRule.watching(stored.sample.metric) {
            guard var watch = watches[rule], watch.level.lastID != nil, watch.level.since == stored.sample.end else {
                continue
            }
            if !stored.isWithdrawn {
                guard watch.level.user != stored.sample.user else { continue }
                watch.level.user = stored.sample.user
                levels.append(watch.level)
            } else if watch.level.isActive {
                var outcome = change(
                    &watch, to: .cleared, value: nil, limit: nil, origin: .gateway, at: now, id: nil, policy: policy,
                    calendar: calendar)
                outcome.event.user = stored.sample.user
                cleared.append(outcome)
            }
            watches[rule] = watch
        }
        return (cleared, levels)
    }

    /// Ends the run of late data of a metric: later data is a new run with its own alerts.
    mutating func endRun(of metric: Metric) {
        guard !watches.isEmpty else { return }
        for rule in AlertRule.watching(metric) { watches[rule] = nil }
        rates[metric] = nil
    }

    private mutating func evaluate(
        _ rule: AlertRule, value: Double, limit: Double, of stored: StoredSample, policy: AlertPolicy,
        calendar: LocalCalendar
    ) -> Outcome? {
        let moment = stored.sample.end
        var watch = watches[rule] ?? Watch(level: AlertLevel(rule: rule, isActive: false, since: moment))
        // Late data that goes back in time is a new run: an alert must not be cleared before it was raised.
        if isLate, let seenAt = watch.seenAt, moment < seenAt {
            watch = Watch(level: AlertLevel(rule: rule, isActive: false, since: moment))
        }
        watch.seenAt = moment
        defer { watches[rule] = watch }
        if watch.level.isActive {
            let hysteresis = rule.subject == .rate ? RateOfChange.hysteresis : policy.hysteresis[rule.metric] ?? 0
            guard rule.isBack(value, limit, hysteresis: hysteresis) else { return nil }
            return change(
                &watch, to: .cleared, value: value, limit: limit, origin: .gateway, at: moment, id: stored.id,
                policy: policy,
                calendar: calendar)
        }
        guard rule.isBeyond(value, limit) else {
            watch.beyond = 0
            return nil
        }
        watch.beyond += 1
        guard watch.beyond >= policy.count[rule.metric] ?? 1 else { return nil }
        if let raisedAt = watch.level.raisedAt, moment >= raisedAt, moment - raisedAt < policy.cooldown { return nil }
        return change(
            &watch, to: .raised, value: value, limit: limit, origin: .gateway, at: moment, id: stored.id,
            policy: policy,
            calendar: calendar)
    }

    /// Clears the exercise alert at a resting heart rate, instead of leaving it active until the next exercise, and an alert of the
    /// rate at a value after a gap.
    private mutating func end(
        _ rule: AlertRule, at moment: Timestamp, policy: AlertPolicy, calendar: LocalCalendar
    ) -> Outcome? {
        guard rule.subject == .exercise || rule.subject == .rate, var watch = watches[rule], watch.level.isActive,
            moment > watch.level.since
        else { return nil }
        defer { watches[rule] = watch }
        return change(
            &watch, to: .cleared, value: nil, limit: nil, origin: .gateway, at: moment, id: nil, policy: policy,
            calendar: calendar)
    }

    private func change(
        _ watch: inout Watch, to edge: AlertEvent.Edge, value: Double?, limit: Double?, origin: AlertEvent.Origin,
        at moment: Timestamp, id: SampleID?, policy: AlertPolicy, calendar: LocalCalendar
    ) -> Outcome {
        let rule = watch.level.rule
        // The same edge of the same sample always has the same id, even if it is evaluated again after a crash.
        let eventID = SampleID(
            name: "\(device.text)|\(rule.name)|\(edge.rawValue)|\(moment.milliseconds)|\(isLate ? "late" : "live")")
        let raisedID = edge == .cleared ? watch.level.lastID : nil
        let raisedAt = edge == .raised ? moment : watch.level.raisedAt ?? watch.level.since
        watch.level = AlertLevel(
            rule: rule, isActive: edge == .raised, since: moment, value: value, limit: limit, lastID: eventID,
            raisedAt: raisedAt)
        watch.isReported = true
        // The count starts again after every change, of any cause.
        watch.beyond = 0
        let event = AlertEvent(
            id: eventID, raisedID: raisedID, rule: rule, edge: edge, value: value, limit: limit, origin: origin,
            measuredAt: moment, raisedAt: raisedAt, sampleID: id)
        let isQuiet = policy.isQuiet(rule, minute: calendar.minuteOfDay(moment))
        return Outcome(event: event, isLate: isLate || isQuiet, level: watch.level)
    }
}
