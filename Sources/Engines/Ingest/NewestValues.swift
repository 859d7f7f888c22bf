package import Vitals

/// Decides what is published as the newest value of each metric: whether it is fresh, and what is held back until a
/// synchronisation has ended.
package struct NewestValues: Sendable {
    private let freshness: [Metric: Duration]
    /// The states last published.
    private var published: [Metric: LatestState] = [:]
    /// Metrics whose newest sample comes from a synchronisation that is still running.
    private var held: Set<Metric> = []

    /// - Parameter freshness: how long a metric's value is fresh; a metric without entry is always fresh.
    package init(freshness: [Metric: Duration]) { self.freshness = freshness }

    /// Handles a change of the newest samples. Those from a synchronisation are held back until `release`; live ones
    /// are not.
    package mutating func change(
        from before: [Metric: StoredSample], to after: [Metric: StoredSample], isSync: Bool
    ) {
        for (metric, stored) in after where before[metric] != stored {
            if isSync { held.insert(metric) } else { held.remove(metric) }
        }
    }

    /// Ends the holding back of a metric (of all if `nil`), when its synchronisation has ended.
    package mutating func release(_ metric: Metric? = nil) {
        if let metric { held.remove(metric) } else { held = [] }
    }

    /// Returns the states to publish now: values that changed or went stale.
    package mutating func update(_ latest: [Metric: StoredSample], at now: Timestamp) -> [LatestState] {
        Metric.allCases.compactMap { metric in
            // While a new value is held back, the published one still goes stale.
            let newest = held.contains(metric) ? published[metric]?.stored : latest[metric]
            // What was published last may have been taken back, and nothing be left.
            guard let stored = newest ?? published[metric]?.stored else { return nil }
            let freshUntil = freshness[metric].map { stored.sample.end + $0 }
            let isStale = newest == nil || freshUntil.map { $0 <= now } ?? false
            let state = LatestState(stored: stored, freshUntil: freshUntil, isStale: isStale)
            guard published[metric] != state else { return nil }
            published[metric] = state
            return state
        }
    }

    /// When the next value goes stale.
    package var nextExpiry: Timestamp? { published.values.compactMap { $0.isStale ? nil : $0.freshUntil }.min() }
}
