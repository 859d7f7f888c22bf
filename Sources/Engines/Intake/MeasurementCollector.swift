import Vitals

/// Groups samples that can share a message: same metric, same user, all historical or none, within the size limits.
struct MeasurementCollector {
    private let source: SampleSource
    private var open: [Fact.Measurement] = []
    private var closed: [Fact.Measurement] = []
    /// Withdrawn samples whose replacements have not come yet.
    private var withdrawn: [StoredSample] = []

    init(source: SampleSource) { self.source = source }

    /// Adds a withdrawn sample, which the next one of its metric and user replaces. Both share a message, so that
    /// consumers never count both.
    mutating func add(withdrawn stored: StoredSample) { withdrawn.append(stored) }

    /// Appends a sample to those of its kind.
    mutating func add(_ stored: StoredSample, isHistorical: Bool) {
        if !withdrawn.isEmpty {
            for former in withdrawn where former.hasSameTopic(as: stored) { append(former, isHistorical: isHistorical) }
            withdrawn.removeAll { $0.hasSameTopic(as: stored) }
        }
        append(stored, isHistorical: isHistorical)
    }

    private mutating func append(_ stored: StoredSample, isHistorical: Bool) {
        let sample = stored.sample
        // A batch rarely has more than two kinds: searching from the end is faster than a table.
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

    /// The messages; those of a kind keep the order of their samples.
    ///
    /// A synchronisation's samples use the history lane even if fresh, so that they do not hold up live samples.
    mutating func facts() -> [(lane: Lane, content: Fact.Content)] {
        for stored in withdrawn { append(stored, isHistorical: true) }
        withdrawn = []
        return (closed + open).map { measurement in
            let lane: Lane = source == .sync || measurement.isHistorical ? .history : .live
            return (lane, .measurement(measurement))
        }
    }
}

extension StoredSample {
    /// Whether both have the same metric and user.
    fileprivate func hasSameTopic(as other: StoredSample) -> Bool {
        sample.metric == other.sample.metric && sample.user == other.sample.user
    }
}

extension Fact.Measurement {
    /// Whether the message has room for one more sample.
    fileprivate func hasRoom(for sample: Sample) -> Bool {
        guard samples.count < Self.maximumSamples else { return false }
        guard case .sleep(let sleep) = sample.reading else { return true }
        let stages = samples.reduce(sleep.stages.count) { sum, other in
            if case .sleep(let sleep) = other.sample.reading { sum + sleep.stages.count } else { sum }
        }
        return stages <= Self.maximumStages
    }
}
