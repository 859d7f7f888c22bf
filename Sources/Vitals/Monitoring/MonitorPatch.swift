/// A change of some settings: what `config/set` asks for.
public struct MonitorPatch: Sendable, Hashable {
    /// The new value of each setting that changes.
    public var changes: [MonitorSetting: MonitorSetting.Value]

    /// A change of these settings.
    public init(_ changes: [MonitorSetting: MonitorSetting.Value] = [:]) { self.changes = changes }
}
