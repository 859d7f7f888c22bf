/// A partial change of a device's monitoring: the changed settings with their new values.
public struct MonitorPatch: Sendable, Hashable {
    /// The new values.
    public var changes: [MonitorSetting: MonitorSetting.Value]

    /// A patch of these changes.
    public init(_ changes: [MonitorSetting: MonitorSetting.Value] = [:]) { self.changes = changes }

    /// The settings with the patch applied, completely or not at all.
    ///
    /// A setting that already has the patch's value counts as unchanged and is not checked: so the whole published
    /// configuration can be sent back.
    /// - Parameters:
    ///   - settings: the settings to change.
    ///   - capabilities: the device's capabilities; `nil` if not known yet: then nothing is unsupported.
    /// - Throws: all errors of the patch at once.
    public func applied(to settings: MonitorSettings, capabilities: Capabilities?) throws(Violations) -> MonitorSettings
    {
        let changed = try evaluated(over: settings.values, capabilities: capabilities)
        var result = settings
        result.merge(changed)
        return result
    }

    /// Merges this patch with a later one, for a device whose settings are not known yet.
    /// - Throws: all errors of the later patch at once.
    package func followed(
        by later: MonitorPatch, capabilities: Capabilities?
    ) throws(Violations) -> MonitorPatch {
        MonitorPatch(changes.merging(try later.evaluated(over: changes, capabilities: capabilities)) { $1 })
    }

    /// The changed leaves, after checking them.
    private func evaluated(
        over values: [MonitorSetting: MonitorSetting.Value], capabilities: Capabilities?
    ) throws(Violations) -> [MonitorSetting: MonitorSetting.Value] {
        let changed = changes.filter { values[$0.key] != $0.value }
        let violations = Self.violations(
            of: values.merging(changed) { $1 }, capabilities: capabilities, changed: Set(changed.keys))
        guard violations.isEmpty else { throw Violations(violations) }
        return changed
    }
}

/// All errors for which something was refused, so that the sender can correct them at once.
public struct Violations: Error, Sendable, Hashable {
    /// The errors, at least one.
    public var list: [Violation]

    /// Violations with these errors.
    public init(_ list: [Violation]) { self.list = list }
}
