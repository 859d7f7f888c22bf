import GRDB
import Vitals

/// Values that an app has averaged, beside the originals of an export: each original counts, and no mean of it.
extension Transaction {
    /// The longest mean that does not say its end: an hour. Of whole days an app has no values with a time.
    static let longestMean: Duration = .hours(1)

    /// Whether an original within the time of a mean is there, so that the mean does not count.
    func hasOriginal(of mean: Sample, series: Int64, ingest: Ingest) throws -> Bool {
        guard let summed = mean.summed else { return false }
        let range = mean.start..<mean.start + max(summed, .milliseconds(1))
        return try values(in: range, areSummed: false, of: mean.metric, series: series, ingest: ingest).contains {
            mean.isMean(of: $0.sample, ingest.wearers)
        }
    }

    /// Withdraws the means of an original.
    /// - Parameter outcomes: further changes are appended.
    func withdrawMeans(
        of original: Sample, series: inout CachedSeries, in cached: inout CachedDevice, outcomes: inout [SampleOutcome],
        ingest: Ingest
    ) throws {
        let range = original.start - Self.longestMean + .milliseconds(1)..<original.start + .milliseconds(1)
        let means = try values(in: range, areSummed: true, of: original.metric, series: series.row, ingest: ingest)
        for mean in means where mean.sample.isMean(of: original, ingest.wearers) {
            let key = SampleKey(mean.sample)
            guard let summed = mean.sample.summed,
                original.start < mean.sample.start + max(summed, .milliseconds(1))
            else { continue }
            try withdraw(key, mean.sample.metric, as: .superseded, series: series, outcomes: &outcomes, ingest: ingest)
            if let newest = try forgetNewest(mean, series: &series, in: &cached, ingest) { outcomes.append(newest) }
        }
    }

    private func values(
        in range: Range<Timestamp>, areSummed: Bool, of metric: Metric, series: Int64, ingest: Ingest
    ) throws -> [StoredSample] {
        let statement = try RawStatement(SampleTable.values, in: database)
        statement.bind(series, at: 1)
        statement.bind(range.lowerBound.milliseconds, at: 2)
        statement.bind(range.upperBound.milliseconds, at: 3)
        statement.bind(areSummed, at: 4)
        var found: [StoredSample] = []
        while try statement.step() {
            found.append(try SampleTable.read(statement, device: ingest.device, metric: metric))
        }
        return found
    }
}

extension Sample {
    /// Whether it may be a mean of another one, by its person and source. One of the same source and times is the same record.
    fileprivate func isMean(of original: Sample, _ wearers: Wearers) -> Bool {
        let isSame = start == original.start && end == original.end && precedence(over: original) == .same
        guard !isSame, wearers.areSame(user, original.user) else { return false }
        return (origin ?? SampleOrigin(place: 0, name: "")).includes(
            original.origin ?? SampleOrigin(place: 0, name: ""))
    }
}
