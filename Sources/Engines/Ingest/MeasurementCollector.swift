import Vitals

/// Groups samples that can share a message: same metric, same user, all historical or none, within the size limits.
struct MeasurementCollector {
    private let source: SampleSource
    private let wearers: Wearers
    private var open: [Fact.Measurement] = []
    private var closed: [Fact.Measurement] = []
    /// Withdrawn samples whose replacements have not come yet.
    private var withdrawn: [StoredSample] = []

    init(source: SampleSource, wearers: Wearers) {
        self.source = source
        self.wearers = wearers
    }

    /// Adds a withdrawn sample, which the next one of its metric and person replaces. Both share a message, so that
    /// consumers never count both.
    mutating func add(withdrawn stored: StoredSample) { withdrawn.append(stored) }

    /// Appends a sample to those of its kind.
    mutating func add(_ stored: StoredSample, isHistorical: Bool) {
        if !withdrawn.isEmpty {
            for former in withdrawn where isSame(former, stored) {
                append(former, user: stored.sample.user, isHistorical: isHistorical)
            }
            withdrawn = withdrawn.filter { !isSame($0, stored) }
        }
        append(stored, user: stored.sample.user, isHistorical: isHistorical)
    }

    /// Whether both have the same metric and person.
    private func isSame(_ former: StoredSample, _ stored: StoredSample) -> Bool {
        former.sample.metric == stored.sample.metric && wearers.areSame(former.sample.user, stored.sample.user)
    }

    /// Appends a sample to a message of this user: its own, or another one of the same person.
    private mutating func append(_ stored: StoredSample, user: Int?, isHistorical: Bool) {
        let sample = stored.sample
        // A batch rarely has more than two kinds: searching from the end is faster than a table.
        let index = open.lastIndex {
            $0.metric == sample.metric && $0.user == user && $0.isHistorical == isHistorical
        }
        guard let index else {
            open.append(
                Fact.Measurement(
                    metric: sample.metric, source: source, isHistorical: isHistorical, user: user, samples: [stored]))
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
        for stored in withdrawn { append(stored, user: stored.sample.user, isHistorical: true) }
        withdrawn = []
        return (closed + open).map { measurement in
            let lane: Lane = source == .sync || measurement.isHistorical ? .history : .live
            return (lane, .measurement(measurement))
        }
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
