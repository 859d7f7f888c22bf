import Engines
import GatewayKit
import Vitals

extension AlertPolicy {
    /// Numbers for `alerts.count`. A hundred values last for hours.
    static let counts = 1...100
    /// Numbers for `alerts.hysteresis`, in the metric's unit: as wide as the widest range of limits (10 to 1000).
    static let hystereses = 0.0...990
    /// Times for `alerts.cooldown`.
    static let cooldowns: ClosedRange<Duration> = .zero ... .days(7)

    /// Reads `alerts:` of the gateway or of a device, where `defaults` are the gateway's.
    ///
    /// - `hysteresis`: how far a value must come back within its limit before the alert clears, per metric and in its unit;
    ///   0 to 990, default as in `MetricTable`.
    /// - `count`: values in a row that must be beyond the limit, a number or one per metric; 1 to 100, default as in
    ///   `MetricTable`.
    /// - `cooldown`: how long the same rule stays silent after it was raised; 0s to 7d, default 10m.
    /// - `quiet_hours`: `{from, to, rules}` or a list of them, in local time; `rules` is a list, default all. Within them the
    ///   level changes and the event goes to `event/history`. Default none; those of a device replace the gateway's.
    /// - `when_not_worn`: whether values count while the device reports that it is not worn; default false.
    init(_ reader: inout ConfigurationReader, defaults: AlertPolicy) {
        self = defaults
        let hysteresisAbout = "How far a value must come back within its limit before the alert clears, by metric."
        reader.section("hysteresis", about: hysteresisAbout) { metrics in
            for metric in metrics.limitedMetrics() {
                let name = metric.rawValue
                hysteresis[metric] = metrics.number(name, in: Self.hystereses, default: hysteresis[metric] ?? 0)
            }
        }
        if case .scalar = reader.value("count")?.content {
            let number = reader.integer("count", in: Self.counts)
            for metric in Metric.limited { count[metric] = number }
        } else {
            let about = "How many values in a row must be beyond the limit: one number for all, or by metric."
            reader.section("count", about: about) { metrics in
                for metric in metrics.limitedMetrics() {
                    count[metric] = metrics.integer(metric.rawValue, in: Self.counts, default: count[metric] ?? 1)
                }
            }
        }
        cooldown = reader.duration(
            "cooldown", in: Self.cooldowns, default: defaults.cooldown,
            about: "How long after it was raised the same alert is not raised again.")
        if reader.has("quiet_hours") {
            quietHours = reader.sections(
                "quiet_hours", limit: ConfigurationLimits.quietHours,
                about: "Local times without alert events; those of a device replace the gateway's."
            ) { QuietHours(&$0) }
        }
        countsWhenNotWorn = reader.flag(
            "when_not_worn", default: defaults.countsWhenNotWorn,
            about: "Whether values count while the device reports that it is not worn.")
    }
}

extension AlertPolicy.QuietHours {
    fileprivate init(_ reader: inout ConfigurationReader) {
        let from = reader.timeOfDay("from", isEnd: false)
        let to = reader.timeOfDay("to", isEnd: true)
        if from == to { reader.report("from and to are the same time; 00:00 to 24:00 is the whole day.", at: "to") }
        var rules: Set<AlertRule>?
        if reader.value("rules") != nil {
            var named: Set<AlertRule> = []
            for name in reader.strings("rules") {
                if let rule = AlertRule(name: name) {
                    named.insert(rule)
                } else {
                    let known = (AlertRule.all + AlertRule.warnings).map(\.name).joined(separator: ", ")
                    reader.report("There is no rule \(name). Known here: \(known).", at: "rules")
                }
            }
            rules = named
        }
        reader.describe("rules", "list of rules", default: "all", about: "The rules for which these hours hold.")
        self.init(from: from, to: to, rules: rules)
    }
}

extension ConfigurationReader {
    /// A required time of day, in minutes from midnight.
    fileprivate mutating func timeOfDay(_ key: String, isEnd: Bool) -> Int {
        describe(key, "time of day, such as 22:00", default: KeyDescription.required)
        guard case .scalar(let text, _) = value(key)?.content, let time = TimeOfDay(text, asEnd: isEnd) else {
            report("A time of day is needed here, such as 22:00.", at: key)
            return isEnd ? TimeOfDay.endOfDay : 0
        }
        return time.minutes
    }

    /// The metrics with limits among the keys here.
    fileprivate mutating func limitedMetrics() -> [Metric] {
        Metric.limited.filter { has($0.rawValue) }
    }
}
