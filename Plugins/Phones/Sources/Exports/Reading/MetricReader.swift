import Vitals

/// All samples of one metric, from all its feeds, ascending, each once.
///
/// Feeds are merged minute by minute. Within a minute, records with their own time count, and values of activity rows only
/// where there are none: most wearables keep both, and both are the same measurement.
final class MetricReader {
    /// The length of an activity row.
    static let minute: Int64 = 60_000
    /// The most records of a minute, which are in memory at once: a hundred a second. The others are skipped, and counted.
    static let maximumPerMinute = 6_000

    private struct Source {
        let place: String
        let stream: any SampleStream
        var head: Candidate?
    }

    private var sources: [Source] = []
    /// The samples of the minute that is being handed out, last one first.
    private var ready: [Sample] = []
    private let from: Timestamp
    private let to: Timestamp
    /// The record that counts so far among those that overlap; for metrics whose records do.
    private var pending: Sample?
    private var mayOverlap = false
    private let skippedRows: SkippedRows

    init(_ feeds: [any Feed], _ reading: ExportRange) throws(ExportError) {
        (from, to) = (reading.from, reading.to)
        let metric = feeds.first?.metric
        mayOverlap = metric?.isInterval ?? false
        // A record outside of the range may exclude one within it. Steps do so only from the same start.
        let margin = mayOverlap && metric?.shape != .count ? SampleLimits.duration : .zero
        skippedRows = reading.skippedRows
        // Whole minutes, so that a minute has the same samples wherever a page ends.
        let wide = reading.ranging(
            (reading.from - margin).minute, (reading.to + margin + .milliseconds(Self.minute - 1)).minute)
        for feed in feeds {
            let stream = try feed.stream(wide)
            sources.append(Source(place: feed.place, stream: stream, head: try stream.next()))
        }
    }

    func next() throws(ExportError) -> Sample? {
        while let sample = try nextDistinct(), sample.start < to {
            if sample.start >= from { return sample }
        }
        return nil
    }

    /// Of records that overlap, the one changed later, or else the one that ends later, as the gateway would choose: an export must not contradict itself.
    private func nextDistinct() throws(ExportError) -> Sample? {
        guard mayOverlap else { return try nextOfAll() }
        while let sample = try nextOfAll() {
            guard let last = pending else {
                pending = sample
                continue
            }
            if sample.excludes(last) {
                if sample.prevails(over: last) { pending = sample }
            } else {
                pending = sample
                return last
            }
        }
        defer { pending = nil }
        return pending
    }

    private func nextOfAll() throws(ExportError) -> Sample? {
        while ready.isEmpty {
            guard let minute = sources.compactMap({ $0.head?.sample.start.minute }).min() else { return nil }
            let found = try removeCandidates(minute)
            let values = found.filter { $0.sample.claim != .correction }
            let best = values.map(\.rank).max()
            var samples = values.filter { $0.rank == best }.map(\.sample)
            // What another row says is not taken back.
            if values.count < found.count {
                let starts = Set(values.map(\.sample.start))
                samples += found.map(\.sample).filter { empty in
                    let mayBeSaid = starts.contains(empty.start)
                    return empty.claim == .correction
                        && !(mayBeSaid && values.contains { $0.sample.isSaidInsteadOf(empty) })
                }
            }
            samples.sort { $0.comes(before: $1) }
            for sample in samples.reversed() {
                if let last = ready.last, last.isSameRecord(as: sample) {
                    // Two forms of one night, of which one has stages.
                    if sample.prevails(over: last) { ready[ready.count - 1] = sample }
                } else {
                    ready.append(sample)
                }
            }
        }
        return ready.popLast()
    }

    /// All samples of a minute, in the order of the feeds.
    private func removeCandidates(_ minute: Timestamp) throws(ExportError) -> [Candidate] {
        var found: [Candidate] = []
        for index in sources.indices {
            while let head = sources[index].head, head.sample.start.minute == minute {
                if found.count < Self.maximumPerMinute {
                    found.append(head)
                } else {
                    skippedRows.add(.tooMany, in: sources[index].place, limit: Self.maximumPerMinute)
                }
                sources[index].head = try sources[index].stream.next()
            }
        }
        return found
    }
}

extension Timestamp {
    /// The beginning of its minute.
    var minute: Timestamp {
        let rest = milliseconds % MetricReader.minute
        return Timestamp(milliseconds: milliseconds - (rest < 0 ? rest + MetricReader.minute : rest))
    }
}

extension Sample {
    /// Whether both have the same id and source, so that only one of them can be published.
    func isSameRecord(as other: Sample) -> Bool {
        start == other.start && end == other.end && isUserInitiated == other.isUserInitiated
            && precedence(over: other) == .same && besideName == other.besideName
    }

    /// The order of samples: counts of one source from one start are neighbours.
    fileprivate func comes(before other: Sample) -> Bool {
        if start != other.start { return start < other.start }
        let precedence = precedence(over: other)
        if metric.shape == .count, precedence != .same { return precedence == .before }
        if besideName != other.besideName { return (besideName ?? "") < (other.besideName ?? "") }
        let (ours, theirs) = ((end, isUserInitiated ? 1 : 0), (other.end, other.isUserInitiated ? 1 : 0))
        return ours == theirs ? precedence == .before : ours < theirs
    }
}

extension Sample {
    /// Whether two records of one metric, person and source describe the same thing, so that only one can count. Between sources the
    /// store decides, which also has the records of earlier exports.
    fileprivate func excludes(_ other: Sample) -> Bool {
        guard user == other.user, precedence(over: other) == .same, besideName == other.besideName else { return false }
        return start == other.start || metric.shape != .count && start < other.end && other.start < end
    }

    /// Whether it is the value of a row that another row, without one, would take back.
    fileprivate func isSaidInsteadOf(_ empty: Sample) -> Bool {
        guard metric.shape == .count else { return isSameRecord(as: empty) }
        let mayBeOne = besideName == empty.besideName || besideName == nil || empty.besideName == nil
        return start == empty.start && mayBeOne && precedence(over: empty) == .same
    }

    /// Which one counts: the sleep that says more, then the one that its source changed later, then the one that ends later, then the one
    /// that starts earlier, then the one that a person started.
    fileprivate func prevails(over other: Sample) -> Bool {
        if case .sleep(let sleep) = reading, case .sleep(let rival) = other.reading, sleep.detail != rival.detail {
            return sleep.detail > rival.detail
        }
        if let ours = changedAt, let theirs = other.changedAt, ours != theirs { return ours > theirs }
        if end != other.end { return end > other.end }
        if start != other.start { return start < other.start }
        return isUserInitiated && !other.isUserInitiated
    }
}
