import Vitals

/// A device with every ability for every monitored metric, and settings for it.
enum AbleDevice {
    static let capabilities = Capabilities(
        Dictionary(
            uniqueKeysWithValues: Metric.monitored.map { metric in
                (metric, Abilities.named.reduce(into: Abilities()) { $0.formUnion($1.ability) })
            }))

    static let settings = MonitorSettings.defaults(for: capabilities)
}
