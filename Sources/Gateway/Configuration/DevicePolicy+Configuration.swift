import Engines
import GatewayKit
import Vitals

extension DevicePolicy {
    /// Times for `offline_after`.
    static let offlineRange: ClosedRange<Duration> = .minutes(1) ... .days(365)
    /// Times for `fresh_for`.
    static let freshRange: ClosedRange<Duration> = .seconds(1) ... .days(3650)

    /// Reads the keys allowed for the gateway (for all devices) and for each device: `sync`, `alerts`, and
    ///
    /// - `fresh_for`: how long a value of a metric counts as the current one, per metric, or `forever`; 1s to 3650d, default
    ///   heart rate 30m, stress 2h, blood oxygen and temperature 24h, the others forever.
    /// - `offline_after`: the silence after which a device is offline; 1m to 365d, default 24h.
    init(_ reader: inout ConfigurationReader, defaults: DevicePolicy) {
        self = defaults
        sync = reader.section("sync", about: "Reading the history that devices keep.") {
            SyncPolicy(&$0, defaults: defaults.sync)
        }
        alerts = reader.section("alerts", about: "How values are compared with their limits.") {
            AlertPolicy(&$0, defaults: defaults.alerts)
        }
        let about = "How long a value is current, by metric; after that `latest/<metric>` is null."
        freshness = reader.section("fresh_for", about: about) { metrics in
            var freshness = defaults.freshness
            for metric in Metric.allCases where metrics.has(metric.rawValue) {
                freshness[metric] = metrics.duration(
                    metric.rawValue, in: Self.freshRange, orWord: "forever", default: freshness[metric])
            }
            return freshness
        }
        offlineAfter = reader.duration(
            "offline_after", in: Self.offlineRange, default: defaults.offlineAfter,
            about: "The silence after which a device is offline.")
    }

    /// Adds everything that the configuration can change to a hash, in a fixed order.
    func hash(into hasher: inout Hasher) {
        hasher.combine(sync)
        hasher.combine(alerts)
        hasher.combine(freshness)
        hasher.combine(offlineAfter)
        hasher.combine(calendar)
        hasher.combine(from)
    }
}
