import Vitals

/// Puts samples that can share a message together: one metric, one user, all historical or none, and not too many.
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
        if !open[index].hasRoom(for: sample) {
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

extension Fact.Measurement {
    /// Whether one more sample may share the message.
    fileprivate func hasRoom(for sample: Sample) -> Bool {
        guard samples.count < Self.maximumSamples else { return false }
        guard case .sleep(let sleep) = sample.reading else { return true }
        let stages = samples.reduce(sleep.stages.count) { sum, other in
            if case .sleep(let sleep) = other.sample.reading { sum + sleep.stages.count } else { sum }
        }
        return stages <= Self.maximumStages
    }
}
