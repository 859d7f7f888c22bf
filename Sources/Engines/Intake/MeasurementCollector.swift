import Vitals

/// Puts samples that can share a message together: one metric, one user, all historical or none, at most 200.
struct MeasurementCollector {
    private let source: SampleSource
    private var open: [Fact.Measurement] = []
    private var closed: [Fact.Measurement] = []

    init(source: SampleSource) { self.source = source }

    /// Adds a sample behind those of its kind.
    mutating func add(_ stored: StoredSample, isHistorical: Bool) {
        let sample = stored.sample
        // A batch has one or two kinds, rarely more: a search from the end beats a table.
        let index = open.lastIndex {
            $0.metric == sample.metric && $0.user == sample.user && $0.isHistorical == isHistorical
        }
        guard let index else {
            open.append(
                Fact.Measurement(
                    metric: sample.metric, source: source, isHistorical: isHistorical, user: sample.user,
                    samples: [stored]))
            return
        }
        if open[index].samples.count == Fact.Measurement.maximumSamples {
            closed.append(open[index])
            open[index].samples.removeAll(keepingCapacity: true)
        }
        open[index].samples.append(stored)
    }

    /// The messages, those of a kind in the order of their samples.
    ///
    /// What a synchronisation brings takes the history's lane even where it is fresh: it must not hold up live samples.
    var facts: [(lane: Lane, content: Fact.Content)] {
        (closed + open).map { measurement in
            let lane: Lane = source == .sync || measurement.isHistorical ? .history : .live
            return (lane, .measurement(measurement))
        }
    }
}
