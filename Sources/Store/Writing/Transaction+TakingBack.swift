import GRDB
import Vitals

extension Transaction {
    /// A count of nothing as the version of what it corrects; `nil` if nothing is known of it. A document says of which interval it
    /// speaks. Of an export the driver knows that the record is the same, which may have had another end: the one that counts becomes 0.
    func correction(_ sample: Sample, in cached: CachedDevice, ingest: Ingest) throws -> Sample? {
        let key = SampleKey(sample)
        let mayDiffer = ingest.overlaps == .lastReported
        let known = try own(beside: sample, in: cached, of: ingest.device).filter { kept in
            let other = SampleKey(kept.sample)
            if mayDiffer, key.excludes(other, of: sample.metric) { return true }
            return key == other && (mayDiffer || !kept.isWithdrawn || !kept.sample.countsNothing)
        }
        if known.isEmpty { return nil }
        let counting = known.filter { !$0.isWithdrawn }
        guard counting.count == 1, let former = counting.first?.sample else { return sample }
        var correction = sample
        correction.end = former.end
        correction.isUserInitiated = former.isUserInitiated
        correction.qualifiers = former.qualifiers
        return correction
    }

    /// Keeps in mind when a document said that nothing was counted in an interval of which nothing else is known, so that what an older
    /// one says of it does not count. Such a row does not count itself, and excludes nothing.
    func keepNothing(_ stored: StoredSample, in cached: inout CachedDevice, ingest: Ingest) throws {
        let sample = stored.sample
        guard ingest.overlaps == .newest, sample.changedAt != nil || sample.reportedAt != nil else { return }
        let series = try series(sample.metric, of: &cached).row
        let insertion = try RawStatement(SampleTable.insertion, in: database)
        SampleTable.bind(stored, series: series, to: insertion)
        if try insertion.run() > 0 { return try mark(stored, as: .superseded, series: series) }
        let known = try own(beside: sample, in: cached, of: ingest.device)
        guard let kept = known.first(where: { SampleKey($0.sample) == SampleKey(sample) }) else { return }
        _ = try arrival(ofVersion: stored, over: kept, series: series)
    }

    /// Withdraws the value that a source no longer has. It stays, so that it is known if it comes again.
    /// - Parameter stored: a sample with its times, that is no value itself.
    /// - Returns: its outcome, `known` where no value was; then the value that is the newest now, as known, if the newest was withdrawn.
    func takeBack(
        _ stored: StoredSample, in cached: inout CachedDevice, ingest: Ingest
    ) throws -> [SampleOutcome] {
        let sample = stored.sample
        let known = try own(beside: sample, in: cached, of: ingest.device).first { former in
            let other = former.sample
            var key = SampleKey(other)
            // What stands beside the value of an earlier source has the name of its own in the key.
            if other.isBeside { key.source = SampleKey(sample).source }
            return !former.isWithdrawn && key == SampleKey(sample)
                && (other.whose != nil || ingest.wearers.areSame(other.user, sample.user))
        }
        guard var former = known, var series = cached.series[sample.metric.index] else {
            return [SampleOutcome(stored: stored, novelty: .known)]
        }
        if let change = sample.changedAt, let former = former.sample.changedAt, change < former {
            return [SampleOutcome(stored: stored, novelty: .known)]
        }
        former.isWithdrawn = true
        former.revision += 1
        former.receivedAt = ingest.receivedAt
        try mark(former, as: .superseded, series: series.row)
        return [SampleOutcome(stored: former, novelty: .withdrawn)]
            + (try forgetNewest(former, series: &series, in: &cached, ingest).map { [$0] } ?? [])
    }

    /// Finds the newest value of a series that is left, if a withdrawn one was it.
    /// - Returns: it, as known; `nil` if there is none, or another one was the newest.
    func forgetNewest(
        _ former: StoredSample, series: inout CachedSeries, in cached: inout CachedDevice, _ ingest: Ingest
    ) throws -> SampleOutcome? {
        guard series.latest == SampleKey(former.sample) else { return nil }
        let metric = former.sample.metric
        let newest = try newest(of: metric, in: series.row, ingest)
        series.latest = newest.map { SampleKey($0.sample) }
        series.isChanged = true
        cached.series[metric.index] = series
        return newest.map { SampleOutcome(stored: $0, novelty: .known) }
    }

    /// The newest value of a series; `nil` without any.
    private func newest(of metric: Metric, in series: Int64, _ ingest: Ingest) throws -> StoredSample? {
        let statement = try RawStatement(SampleTable.newest, in: database)
        statement.bind(series, at: 1)
        statement.bind(metric.isSeparated, at: 2)
        defer { statement.reset() }
        return try statement.step() ? try SampleTable.read(statement, device: ingest.device, metric: metric) : nil
    }

    /// Writes whether a value counts, with its revision.
    func mark(_ stored: StoredSample, as standing: Standing, series: Int64) throws {
        let statement = try RawStatement(SampleTable.mark, in: database)
        SampleTable.bind(SampleKey(stored.sample), series: series, to: statement)
        statement.bind(standing.rawValue, at: 5)
        statement.bind(Int64(stored.revision), at: 6)
        statement.bind(stored.receivedAt.milliseconds, at: 7)
        _ = try statement.run()
    }
}

extension StoredSample {
    /// Whether it is a value that its source has taken back: of others that are withdrawn somebody has decided, or decides yet, whose they
    /// are.
    var isTakenBack: Bool { isWithdrawn && !sample.metric.isInterval && sample.whose == nil }
}
