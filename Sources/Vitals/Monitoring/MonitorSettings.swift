/// All settings of one device's monitoring, as a flat table: what two configurations differ in, what a patch changes and
/// what a violation names are each a set of leaves.
public struct MonitorSettings: Sendable, Hashable {
    /// The value of each setting that the device has.
    public var values: [MonitorSetting: MonitorSetting.Value]

    /// Settings from a table.
    public init(_ values: [MonitorSetting: MonitorSetting.Value] = [:]) { self.values = values }

    /// The value of one setting, `nil` where it is not known.
    public subscript(metric: Metric, field: MonitorSetting.Field) -> MonitorSetting.Value? {
        get { values[MonitorSetting(metric, field)] }
        set { values[MonitorSetting(metric, field)] = newValue }
    }

    /// The configuration of one metric, `nil` where nothing of it is known. Setting replaces all of the metric's settings.
    public subscript(metric: Metric) -> MonitorConfiguration? {
        get { MonitorConfiguration(metric: metric, settings: self) }
        set {
            for field in MonitorSetting.Field.allCases { values[MonitorSetting(metric, field)] = nil }
            guard let newValue else { return }
            for (field, value) in newValue.fields(of: metric) { values[MonitorSetting(metric, field)] = value }
        }
    }

    /// The metrics of which any setting is known, in the order of `Metric.monitored`.
    public var metrics: [Metric] {
        Metric.monitored.filter { metric in values.keys.contains { $0.metric == metric } }
    }

    /// The settings in which these differ from `other`, in the order of their paths.
    public func differences(from other: MonitorSettings) -> [MonitorSetting] {
        Set(values.keys).union(other.values.keys)
            .filter { values[$0] != other.values[$0] }
            .sorted { $0.path < $1.path }
    }
}
