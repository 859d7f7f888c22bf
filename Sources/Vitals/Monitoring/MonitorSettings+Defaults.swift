extension MonitorSettings {
    /// The initial settings for a device with these capabilities that reports none itself: everything is off, with the
    /// times and limits used as examples in the guide of automatic monitoring (`MetricTable`).
    ///
    /// Each metric gets a complete schedule and complete limits if the device offers any setting of them, because a
    /// schedule is written and published as a whole.
    public static func defaults(for capabilities: Capabilities) -> MonitorSettings {
        MonitorSettings(
            Metric.monitored.compactMap { metric in
                let offered = MonitorConfiguration(defaultOf: metric)?.keepingParts { field in
                    MonitorSetting(metric, field).isOffered(by: capabilities)
                }
                return offered.flatMap { $0.isEmpty ? nil : $0 }
            })
    }
}

extension MonitorConfiguration {
    /// The default monitoring of a metric, with all parts; `nil` if the metric is not monitored.
    init?(defaultOf metric: Metric) {
        guard let row = metric.monitoring else { return nil }
        self.init(of: metric) { field in
            switch field {
            case .scheduleEnabled, .enabled: .toggle(false)
            case .scheduleStart: .number(Double(row.schedule.start))
            case .scheduleEnd: .number(Double(row.schedule.end))
            case .scheduleInterval: .number(Double(row.schedule.interval))
            case .lower(let subject):
                row.limits.first { $0.subject == subject }.map { .number($0.range.lowerBound) }
            case .upper(let subject):
                row.limits.first { $0.subject == subject }.map { .number($0.range.upperBound) }
            case .exerciseMaximum: row.exerciseMaximum.map { .number(Double($0)) }
            }
        }
    }
}
