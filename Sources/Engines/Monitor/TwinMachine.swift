package import Vitals

/// Keeps what is wanted of a device's monitoring and what the device has in step.
///
/// A setting that the device reports is kept by the device: it is written, read back and compared. One that it does not
/// report, such as the limits of a device without alerts, is kept by the gateway alone and never pending.
package struct TwinMachine: Sendable {
    package private(set) var state: TwinState
    /// What was written and not read back yet. It is ours, whatever is wanted by now: no drift.
    private var written: [MonitorSetting: MonitorSetting.Value] = [:]
    /// What the device reported otherwise than it was written, when it was last read back.
    private var refused: Set<MonitorSetting> = []

    /// Metrics that could not be read the last time. What is wanted of one that was never read, nobody has confirmed.
    private var unread: Set<Metric> = []

    package init(state: TwinState) { self.state = state }

    /// What came of a patch.
    package enum PatchResult: Sendable, Hashable {
        /// It is accepted; what it leaves pending has to be written.
        case accepted
        /// It says what holds already.
        case unchanged
        /// It waits for the device's first connection.
        case waiting
        case rejected([Violation])
        /// `if_version` names another version than the current one.
        case conflict(current: Int)
    }

    /// Applies a patch, all or nothing.
    package mutating func apply(
        _ patch: MonitorPatch, ifVersion: Int?, adopts: Bool, capabilities: Capabilities?, at now: Timestamp
    ) -> PatchResult {
        if let ifVersion, ifVersion != state.version { return .conflict(current: state.version) }
        guard let desired = state.desired, let capabilities else {
            return wait(for: patch, capabilities: capabilities, at: now)
        }
        var wanted = desired
        if adopts {
            // What the device did not take, it would be told again with every connection. What waits for it is no answer of it.
            let notTaken = state.error == nil ? [] : state.pending
            for setting in state.drift.union(notTaken) { wanted.values[setting] = state.reported.values[setting] }
        }
        let settings: MonitorSettings
        do {
            settings = try patch.applied(to: wanted, capabilities: capabilities)
        } catch { return .rejected(error.list) }
        guard settings != desired || !state.drift.isEmpty else { return .unchanged }
        // A drift that is written over is no new version.
        if settings != desired { state.version += 1 }
        state.desired = settings
        state.updatedAt = now
        state.error = nil
        // Whoever sets something has seen the drift: what is wanted now is written over it, or was adopted above.
        state.drift = []
        compare(at: now)
        return .accepted
    }

    /// Takes back a change that could not be kept. What is known of reads and writes stands.
    package mutating func undo(to state: TwinState) { self.state = state }

    private mutating func wait(
        for patch: MonitorPatch, capabilities: Capabilities?, at now: Timestamp
    ) -> PatchResult {
        guard !patch.changes.isEmpty else { return .unchanged }
        let settings: MonitorSettings
        do {
            settings = try patch.applied(
                to: MonitorSettings(state.waiting?.changes ?? [:]), capabilities: capabilities)
        } catch { return .rejected(error.list) }
        guard settings.values != state.waiting?.changes else { return .unchanged }
        state.waiting = MonitorPatch(settings.values)
        state.pending = Set(settings.values.keys)
        state.version += 1
        state.updatedAt = now
        return .waiting
    }

    /// Some metrics were read, and of these some could not be. What could be is told to `report`, afterwards.
    package mutating func looked(at metrics: [Metric], failed: [Metric]) {
        unread.subtract(metrics)
        unread.formUnion(failed)
    }

    /// Metrics that have to be read before it is known what is to be written.
    package var unknown: [Metric] {
        Metric.monitored.filter { metric in
            unread.contains(metric) && state.pending.contains { $0.metric == metric }
        }
    }

    /// Takes what the device reports of some metrics: at a connection, after a write, or because somebody asked.
    package mutating func report(_ settings: MonitorSettings, capabilities: Capabilities, at now: Timestamp) {
        let before = state
        let metrics = Set(settings.metrics)
        // What an earlier firmware had of metrics that this one does not monitor is the gateway's alone.
        for setting in state.reported.values.keys
        where metrics.contains(setting.metric) || !capabilities.supports(.monitor, setting.metric) {
            state.reported.values[setting] = nil
        }
        state.reported.values.merge(settings.values) { $1 }
        state.drift = state.drift.filter { state.reported.values[$0] != nil }
        let dropped = adoptFirst(capabilities: capabilities, at: now)
        notice(since: before, at: now)
        compare(at: now)
        if let dropped { state.error = dropped }
        let confirmed = written.filter { metrics.contains($0.key.metric) }
        refused = Set(confirmed.filter { state.reported.values[$0.key] != $0.value }.keys)
        for setting in confirmed.keys { written[setting] = nil }
    }

    /// The first report is what is wanted from then on, with the defaults for what the device leaves to the gateway.
    /// Returns why a patch that waited for it was dropped.
    private mutating func adoptFirst(capabilities: Capabilities, at now: Timestamp) -> String? {
        // Of a metric that the device keeps and has not reported yet nothing is wanted: a default would be written over it.
        let reported = Set(state.reported.metrics)
        let defaults = MonitorSettings(
            MonitorSettings.defaults(for: capabilities).values.filter {
                !capabilities.supports(.monitor, $0.key.metric) || reported.contains($0.key.metric)
            })
        guard var desired = state.desired else {
            var first = defaults
            first.values.merge(state.reported.values) { $1 }
            state.version += 1
            var refused: String?
            if let waiting = state.waiting {
                do {
                    first = try waiting.applied(to: first, capabilities: capabilities)
                } catch {
                    refused =
                        "A change from before the first connection was dropped: "
                        + error.list.map { "\($0.path): \($0.message)" }.joined(separator: " ")
                }
                state.waiting = nil
            }
            state.desired = first
            state.updatedAt = now
            return refused
        }
        // Metrics that a new firmware brought.
        for (setting, value) in defaults.values.merging(state.reported.values, uniquingKeysWith: { $1 })
        where desired.values[setting] == nil {
            desired.values[setting] = value
        }
        state.desired = desired
        return nil
    }

    /// A setting that was confirmed and now differs was changed on the device itself.
    private mutating func notice(since before: TwinState, at now: Timestamp) {
        guard let wanted = before.desired else { return }
        for (setting, value) in state.reported.values {
            guard let desired = wanted.values[setting] else { continue }
            if value == desired {
                state.drift.remove(setting)
            } else if before.reported.values[setting] == desired, !before.pending.contains(setting),
                written[setting] == nil
            {
                if state.drift.insert(setting).inserted { state.updatedAt = now }
            }
        }
    }

    private mutating func compare(at now: Timestamp) {
        guard let desired = state.desired else { return }
        var pending: Set<MonitorSetting> = []
        for (setting, value) in state.reported.values {
            guard let wanted = desired.values[setting], wanted != value, !state.drift.contains(setting) else {
                continue
            }
            pending.insert(setting)
        }
        let unknown = unread.subtracting(state.reported.metrics)
        pending.formUnion(desired.values.keys.filter { unknown.contains($0.metric) })
        if pending != state.pending { state.updatedAt = now }
        state.pending = pending
        if pending.isEmpty {
            if state.reportedVersion != state.version, !state.reported.values.isEmpty || state.drift.isEmpty {
                state.reportedVersion = state.version
                state.updatedAt = now
            }
            state.error = nil
        }
    }

    /// What has to be written to the device: whole configurations of the metrics with pending settings. A setting that
    /// was changed on the device stays as it is there.
    package var writes: [(metric: Metric, configuration: MonitorConfiguration)] {
        guard let desired = state.desired else { return [] }
        return Metric.monitored.compactMap { metric in
            guard state.pending.contains(where: { $0.metric == metric }) else { return nil }
            var settings = MonitorSettings()
            for (setting, value) in state.reported.values where setting.metric == metric {
                settings.values[setting] = state.drift.contains(setting) ? value : desired.values[setting] ?? value
            }
            return settings[metric].map { (metric, $0) }
        }
    }

    /// A metric's configuration is being written.
    package mutating func writing(_ configuration: MonitorConfiguration, of metric: Metric) {
        for (field, value) in configuration.fields(of: metric) { written[MonitorSetting(metric, field)] = value }
    }

    /// After writes and their read-back: says what the device did not take. What is wanted since then does not count.
    package mutating func wrote(failures: [(metric: Metric, error: String)], at now: Timestamp) -> String? {
        var error: String?
        if let failure = failures.first {
            error = "\(failure.metric.rawValue): \(failure.error)"
        } else if !refused.isEmpty {
            let paths = refused.map(\.path).sorted().joined(separator: ", ")
            error = "The device kept other values than it was told for \(paths)."
        }
        if error != state.error {
            state.error = error
            state.updatedAt = now
        }
        return error
    }

    /// The limits by which values are judged: what is wanted, or before that what the device has.
    package var settings: MonitorSettings { state.desired ?? state.reported }
}
