package import Vitals

/// Keeps a device's monitoring and the settings wanted of it in step.
///
/// The device keeps the settings that it reports: they are written, read back and compared. The gateway alone keeps all
/// others, such as the limits of a device without alerts; they are never pending.
package struct TwinMachine: Sendable {
    package private(set) var state: TwinState
    /// Values written but not read back yet: the gateway's own, so no drift, even if others are wanted by now.
    private var written: [MonitorSetting: MonitorSetting.Value] = [:]
    /// Settings that the last read-back reported with values other than those written.
    private var refused: Set<MonitorSetting> = []

    /// Metrics whose last read failed. If one was never read, its desired settings count as pending.
    private var unread: Set<Metric> = []

    package init(state: TwinState) { self.state = state }

    /// The result of a patch.
    package enum PatchResult: Sendable, Hashable {
        /// Accepted; settings that are now pending have to be written.
        case accepted
        /// Equal to the current configuration.
        case unchanged
        /// Waits for the device's first connection.
        case waiting
        case rejected([Violation])
        /// `if_version` does not match the current version.
        case conflict(current: Int)
    }

    /// Applies a patch, completely or not at all.
    package mutating func apply(
        _ patch: MonitorPatch, ifVersion: Int?, adopts: Bool, capabilities: Capabilities?, at now: Timestamp
    ) -> PatchResult {
        if let ifVersion, ifVersion != state.version { return .conflict(current: state.version) }
        guard let desired = state.desired, let capabilities else {
            return wait(for: patch, capabilities: capabilities, at: now)
        }
        var wanted = desired
        if adopts {
            // Adopt the reported values of refused settings, too: otherwise each connection would write them again.
            // Without an error, pending settings only wait to be written, and stay wanted.
            let notTaken = state.error == nil ? [] : state.pending
            let reported = state.reported.values
            wanted.merge(reported.filter { state.drift.contains($0.key) || notTaken.contains($0.key) })
        }
        let settings: MonitorSettings
        do {
            settings = try patch.applied(to: wanted, capabilities: capabilities)
        } catch { return .rejected(error.list) }
        guard settings != desired || !state.drift.isEmpty else { return .unchanged }
        // Writing over a drift does not create a new version.
        if settings != desired { state.version += 1 }
        state.desired = settings
        state.updatedAt = now
        state.error = nil
        // The patch settles every drift: it is either adopted above or written over.
        state.drift = []
        compare(at: now)
        return .accepted
    }

    /// Takes back a change that could not be stored. Keeps what is known of reads and writes.
    package mutating func undo(to state: TwinState) { self.state = state }

    private mutating func wait(
        for patch: MonitorPatch, capabilities: Capabilities?, at now: Timestamp
    ) -> PatchResult {
        guard !patch.changes.isEmpty else { return .unchanged }
        let waiting: MonitorPatch
        do {
            waiting = try (state.waiting ?? MonitorPatch()).followed(by: patch, capabilities: capabilities)
        } catch { return .rejected(error.list) }
        guard waiting != state.waiting else { return .unchanged }
        state.waiting = waiting
        state.pending = Set(waiting.changes.keys)
        state.version += 1
        state.updatedAt = now
        return .waiting
    }

    /// Records which metrics were read and which of these reads failed. Call it before `report`, which takes the values
    /// read.
    package mutating func recordReads(of metrics: [Metric], failed: [Metric]) {
        unread.subtract(metrics)
        unread.formUnion(failed)
    }

    /// Metrics that have to be read before anything can be written to them.
    package var unknown: [Metric] {
        Metric.monitored.filter { metric in
            unread.contains(metric) && state.pending.contains { $0.metric == metric }
        }
    }

    /// Takes settings that the device reported: at a connection, after a write, or on request.
    package mutating func report(_ settings: MonitorSettings, capabilities: Capabilities, at now: Timestamp) {
        let before = state
        let metrics = Set(settings.metrics)
        // Metrics that this firmware no longer monitors are now kept by the gateway alone.
        for metric in state.reported.metrics where !capabilities.isConfigurable(metric) {
            state.reported.remove(metric)
        }
        for metric in metrics { if let configuration = settings[metric] { state.reported.set(configuration) } }
        let known = state.reported.values
        state.drift = state.drift.filter { known[$0] != nil }
        let dropped = adoptFirst(capabilities: capabilities, at: now)
        recordChanges(since: before, at: now)
        compare(at: now)
        if let dropped { state.error = dropped }
        let confirmed = written.filter { metrics.contains($0.key.metric) }
        refused = Set(confirmed.filter { known[$0.key] != $0.value }.keys)
        for setting in confirmed.keys { written[setting] = nil }
    }

    /// Adopts the first report as the desired settings, with defaults for what the device leaves to the gateway.
    /// Returns why a waiting patch was dropped.
    private mutating func adoptFirst(capabilities: Capabilities, at now: Timestamp) -> String? {
        // Nothing is wanted yet of a metric that the device keeps but has not reported: the default would overwrite the
        // device's value.
        let reported = Set(state.reported.metrics)
        var first = MonitorSettings.defaults(for: capabilities)
        for metric in first.metrics where capabilities.isConfigurable(metric) && !reported.contains(metric) {
            first.remove(metric)
        }
        first.merge(state.reported.values)
        guard let desired = state.desired else {
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
        // Keep what is wanted, and add what a new firmware brought.
        first.merge(desired.values)
        state.desired = first
        return nil
    }

    /// Detects drift: a setting that was confirmed and now differs was changed on the device itself.
    private mutating func recordChanges(since before: TwinState, at now: Timestamp) {
        guard let wanted = before.desired?.values else { return }
        let reportedBefore = before.reported.values
        for (setting, value) in state.reported.values {
            guard let desired = wanted[setting] else { continue }
            if value == desired {
                state.drift.remove(setting)
            } else if reportedBefore[setting] == desired, !before.pending.contains(setting),
                written[setting] == nil
            {
                if state.drift.insert(setting).inserted { state.updatedAt = now }
            }
        }
    }

    private mutating func compare(at now: Timestamp) {
        guard let desired = state.desired?.values else { return }
        let reported = state.reported.values
        var pending: Set<MonitorSetting> = []
        for (setting, value) in reported {
            guard let wanted = desired[setting], wanted != value, !state.drift.contains(setting) else {
                continue
            }
            pending.insert(setting)
        }
        let unknown = unread.subtracting(state.reported.metrics)
        pending.formUnion(desired.keys.filter { unknown.contains($0.metric) })
        if pending != state.pending { state.updatedAt = now }
        state.pending = pending
        if pending.isEmpty {
            if state.reportedVersion != state.version, !reported.isEmpty || state.drift.isEmpty {
                state.reportedVersion = state.version
                state.updatedAt = now
            }
            state.error = nil
        }
    }

    /// What to write to the device: complete configurations of all metrics with pending settings. Drifted settings keep
    /// the device's value.
    package var writes: [MonitorConfiguration] {
        guard let desired = state.desired?.values else { return [] }
        let reported = state.reported.values
        let wanted = MonitorSettings(
            reported.merging(desired.filter { reported[$0.key] != nil && !state.drift.contains($0.key) }) { $1 })
        return wanted.metrics.filter { metric in state.pending.contains { $0.metric == metric } }
            .compactMap { wanted[$0] }
    }

    /// Records that a metric's configuration is being written.
    package mutating func markWriting(_ configuration: MonitorConfiguration) {
        for (field, value) in configuration.leaves { written[MonitorSetting(configuration.metric, field)] = value }
    }

    /// Call it after writes and their read-back. Returns what the device did not take. Changes wanted since the write
    /// do not count.
    package mutating func finishWrites(failures: [(metric: Metric, error: String)], at now: Timestamp) -> String? {
        var error: String?
        if let failure = failures.first {
            error = "\(failure.metric.rawValue): \(failure.error)"
        } else if !refused.isEmpty {
            let paths = refused.map(\.path).sorted().joined(separator: ", ")
            error = "The device kept values other than those written for \(paths)."
        }
        if error != state.error {
            state.error = error
            state.updatedAt = now
        }
        return error
    }

    /// The limits in force: the desired ones, or, before the first report, those reported.
    package var settings: MonitorSettings { state.desired ?? state.reported }
}
