/// A partial change of a device's monitoring: the settings that it touches, with their new values.
public struct MonitorPatch: Sendable, Hashable {
    /// The new values.
    public var changes: [MonitorSetting: MonitorSetting.Value]

    /// A patch of these changes.
    public init(_ changes: [MonitorSetting: MonitorSetting.Value] = [:]) { self.changes = changes }

    /// These settings with the patch applied: all of it or nothing.
    ///
    /// A setting that already has the patch's value is not changed, and so not judged: the whole configuration can be sent
    /// back as it was published.
    /// - Parameters:
    ///   - settings: what the patch changes.
    ///   - capabilities: what the device can do; `nil` where that is not known yet, and nothing is unsupported.
    /// - Throws: every mistake of the patch at once.
    public func applied(to settings: MonitorSettings, capabilities: Capabilities?) throws(Violations) -> MonitorSettings
    {
        let changed = changes.filter { settings.values[$0.key] != $0.value }
        var result = settings
        result.values.merge(changed) { _, new in new }
        let violations = result.violations(capabilities: capabilities, changed: Set(changed.keys))
        guard violations.isEmpty else { throw Violations(violations) }
        return result
    }
}

/// Every mistake that made something be refused. The sender is told all of them, and can correct them at once.
public struct Violations: Error, Sendable, Hashable {
    /// The mistakes, at least one.
    public var list: [Violation]

    /// The mistakes of something that is refused.
    public init(_ list: [Violation]) { self.list = list }
}
