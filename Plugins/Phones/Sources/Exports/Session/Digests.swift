package import Vitals

/// Digests that show which days of which metrics changed from one export to the next: a number per metric and day. It is small,
/// where the samples of years are not.
package struct Digests: Sendable, Hashable {
    /// By metric, and by days since 1970 in UTC.
    var days: [Metric: [Int64: UInt64]] = [:]

    private static let day: Int64 = 86_400_000

    package init() {}

    /// Adds a sample. The order does not matter.
    package mutating func add(_ sample: Sample) {
        let number = sample.start.milliseconds / Self.day
        // An odd number, so that a sample that occurs twice does not cancel itself out.
        days[sample.metric, default: [:]][number, default: 0] &+= sample.stableHash | 1
    }

    /// A range of starts that changed.
    struct Change: Sendable, Hashable {
        var metric: Metric
        var from: Timestamp
        var to: Timestamp
        /// Whether all of its days had samples before, so that some may be gone.
        var wasKnown = false
    }

    /// The days that are not as they were, ascending within each metric, workouts first. Neighbouring days are one range.
    ///
    /// A metric that was not there at all is left to the synchronisation of the session that begins with it, but for what is
    /// newer than `latest`.
    func changes(since old: Digests, latest: Timestamp) -> [Change] {
        var changes: [Change] = []
        for metric in Metric.synchronised {
            let now = days[metric] ?? [:]
            let before = old.days[metric]
            let changed = Set(now.keys).union((before ?? [:]).keys).filter { now[$0] != before?[$0] }.sorted()
            for day in changed {
                let from = Timestamp(milliseconds: day * Self.day)
                let to = from + .days(1)
                if before == nil, to <= latest { continue }
                let wasKnown = before?[day] != nil
                if let last = changes.last, last.metric == metric, last.to == from, last.wasKnown == wasKnown {
                    changes[changes.count - 1].to = to
                } else {
                    changes.append(Change(metric: metric, from: from, to: to, wasKnown: wasKnown))
                }
            }
        }
        return changes
    }
}
