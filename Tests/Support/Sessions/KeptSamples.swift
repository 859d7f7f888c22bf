import Synchronization
package import Vitals

/// The samples that a gateway keeps of a device: each record once, with a revision that rises when its content changes.
package final class KeptSamples: Sendable {
    private struct Key: Hashable {
        var metric: Metric
        var start: Timestamp
        var end: Timestamp
        var isUserInitiated: Bool

        init(_ sample: Sample) {
            (metric, start, end, isUserInitiated) = (sample.metric, sample.start, sample.end, sample.isUserInitiated)
        }
    }

    private let records = Mutex<[Key: (sample: Sample, revision: Int)]>([:])

    package init() {}

    /// Stores what arrived.
    package func store(_ samples: [Sample]) {
        records.withLock { records in
            for sample in samples {
                let key = Key(sample)
                guard let known = records[key] else {
                    records[key] = (sample, 1)
                    continue
                }
                if !known.sample.hasSameContent(as: sample) { records[key] = (sample, known.revision + 1) }
            }
        }
    }

    /// All records of a metric, ascending.
    package func samples(_ metric: Metric) -> [Sample] {
        records.withLock { Array($0.values) }.map(\.sample).filter { $0.metric == metric }
            .sorted { ($0.start, $0.end) < ($1.start, $1.end) }
    }

    /// The records whose content has changed.
    package var corrected: [Sample] {
        records.withLock { Array($0.values) }.filter { $0.revision > 1 }.map(\.sample)
    }
    /// The revisions of a metric's records, by their starts.
    package func revisions(_ metric: Metric) -> [Timestamp: Int] {
        records.withLock { records in
            records.filter { $0.key.metric == metric }.reduce(into: [:]) { $0[$1.key.start] = $1.value.revision }
        }
    }
    /// How many records there are.
    package var count: Int { records.withLock { $0.count } }
    /// The metrics of all records.
    package var metrics: Set<Metric> { records.withLock { Set($0.keys.map(\.metric)) } }
}
