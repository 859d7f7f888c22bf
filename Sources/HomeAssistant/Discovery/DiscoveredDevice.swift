package import Vitals

/// The properties of a wearable that determine its entities: its identity, its capabilities, what it has ever
/// reported, and its limits.
package struct DiscoveredDevice: Sendable, Hashable {
    /// Its identity, its capabilities and what it has ever reported.
    package var info: DeviceInfo
    /// The limit of each rule, without rules that have none; `nil` until the limits are known.
    package private(set) var limits: [AlertRule: Limit]?

    /// Whether it has entities: its capabilities are known, or a person has to pair it first.
    package var isAnnounced: Bool { info.capabilities != nil || info.asksForPasskey }

    /// A rule's limit.
    package enum Limit: Sendable, Hashable {
        /// A value beyond the limit raises an alert.
        case watched
        /// No value can be beyond the limit.
        case unreachable
    }

    /// A device with these monitoring settings, or one whose limits are unknown.
    package init(_ info: DeviceInfo, settings: MonitorSettings? = nil) {
        self.info = info
        if let settings { watch(settings) }
    }

    /// Takes the limits from the monitoring settings. A limit that no value can pass counts as unreachable even while
    /// it is off.
    package mutating func watch(_ settings: MonitorSettings) {
        var limits: [AlertRule: Limit] = [:]
        for rule in AlertRule.all {
            guard let own = settings[rule.metric]?.limits[rule.subject] else { continue }
            if !rule.canBePassed(rule.side == .high ? own.upper : own.lower) {
                limits[rule] = .unreachable
            } else if own.isEnabled {
                limits[rule] = .watched
            }
        }
        self.limits = limits
    }
}
