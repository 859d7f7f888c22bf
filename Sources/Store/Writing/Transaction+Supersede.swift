import GRDB
import Vitals

/// A record that may exclude another record.
private struct Rival {
    var key: SampleKey
    var isWithdrawn: Bool
    /// How its source compares with that of the record beside which it was found. Only counts of several sources exclude each other
    /// by it; of other records the source does not matter.
    var precedence: Precedence
    /// How much it says if it is a sleep.
    var detail: Sleep.Detail?

    /// Whether it is a sleep that says more than another one (`true`) or less (`false`); `nil` if both say as much, or are no sleeps.
    func saysMore(than sample: Sample) -> Bool? {
        guard let detail, let other = sample.sleepDetail, detail != other else { return nil }
        return detail > other
    }
}

extension Transaction {
    /// The number of records checked beside a new one: more than a device records in a week, even if it sends a growing
    /// night every few minutes. A device that sends more must not delay the others.
    static let rivalLimit = 1_000
    /// The same of counts: one for each minute of the longest one that may be stored, and that one itself, which is found as well.
    static let countRivalLimit = 7 * 24 * 60 + 1

    /// Decides which records are valid after a record arrived or was assigned to another person. It withdraws the
    /// records that this one replaces, or this one if another prevails.
    ///
    /// A record is withdrawn as soon as a known record excludes it and prevails, even if that one is withdrawn itself.
    /// The same records thus end in the same state, in any order and after any number of arrivals. Where the newest report
    /// counts, it replaces all others of its source instead.
    /// - Parameters:
    ///   - arrival: what became of the record so far. Its outcome is not in `outcomes` yet.
    ///   - outcomes: further changes are appended.
    func settlePlace(
        of arrival: inout Arrival, series: CachedSeries, outcomes: inout [SampleOutcome], ingest: Ingest
    ) throws {
        var outcome = arrival.outcome
        defer { arrival.outcome = outcome }
        let formerUser = arrival.formerUser
        let stored = outcome.stored
        let hasNewPerson = !ingest.wearers.areSame(formerUser, stored.sample.user)
        var isWithdrawn = stored.isWithdrawn
        let isLastReported = ingest.overlaps == .lastReported
        let isCounted = ingest.overlaps == .largestCount && outcome.novelty == .corrected
        // A sleep may say more or less than before.
        let isToldAnew =
            outcome.novelty == .corrected && arrival.formerDetail.map { $0 != stored.sample.sleepDetail } ?? false
        if outcome.novelty == .new || hasNewPerson || isCounted || isToldAnew || arrival.isReplaced
            || isLastReported && isWithdrawn
        {
            isWithdrawn = false
            for rival in try rivals(of: stored.sample, user: stored.sample.user, series: series, ingest: ingest) {
                // A time in bed, or a night without stages, replaces no night with stages, however late it is reported.
                let isReplaced =
                    isLastReported && rival.precedence == .same && rival.saysMore(than: stored.sample) != true
                if !isReplaced, try prevails(rival, over: stored.sample, series: series, ingest: ingest) {
                    isWithdrawn = true
                } else if !rival.isWithdrawn {
                    try withdraw(rival.key, stored.sample.metric, series: series, outcomes: &outcomes, ingest: ingest)
                }
            }
        }
        if outcome.novelty == .corrected, hasNewPerson || isToldAnew && !isLastReported {
            try restoreRivals(of: stored.sample, user: formerUser, series: series, outcomes: &outcomes, ingest: ingest)
        }
        guard isWithdrawn || stored.isWithdrawn else { return }
        let wasPublished = outcome.novelty == .corrected && !stored.isWithdrawn
        outcome.stored.isWithdrawn = isWithdrawn
        if !isWithdrawn, outcome.novelty == .known {
            // It counts again, without a change of its content.
            outcome.novelty = .corrected
            outcome.stored.revision += 1
            outcome.stored.receivedAt = ingest.receivedAt
        }
        if isWithdrawn { outcome.novelty = wasPublished ? .withdrawn : .known }
        try mark(outcome.stored, series: series)
    }

    /// Withdraws a valid record. A record of the same ingest was never published, and is not published now.
    private func withdraw(
        _ key: SampleKey, _ metric: Metric, series: CachedSeries, outcomes: inout [SampleOutcome], ingest: Ingest
    ) throws {
        guard var stored = try sample(key, metric, series: series, device: ingest.device) else { return }
        stored.isWithdrawn = true
        if let place = outcomes.lastIndex(where: { $0.novelty != .known && $0.stored.isSameRecord(as: stored) }) {
            let novelty = outcomes[place].novelty
            outcomes[place] = SampleOutcome(stored: stored, novelty: .known)
            if novelty == .new { return try mark(stored, series: series) }
        }
        stored.revision += 1
        stored.receivedAt = ingest.receivedAt
        try mark(stored, series: series)
        outcomes.append(SampleOutcome(stored: stored, novelty: .withdrawn))
    }

    /// Restores a person's records if the only record that excluded them now belongs to another person, or says less.
    private func restoreRivals(
        of sample: Sample, user: Int?, series: CachedSeries, outcomes: inout [SampleOutcome], ingest: Ingest
    ) throws {
        for rival in try rivals(of: sample, user: user, series: series, ingest: ingest) where rival.isWithdrawn {
            guard var stored = try self.sample(rival.key, sample.metric, series: series, device: ingest.device)
            else { continue }
            let others = try rivals(of: stored.sample, user: user, series: series, ingest: ingest)
            let isExcluded = try others.contains {
                try prevails($0, over: stored.sample, series: series, ingest: ingest)
            }
            guard !isExcluded else { continue }
            stored.isWithdrawn = false
            stored.revision += 1
            stored.receivedAt = ingest.receivedAt
            try mark(stored, series: series)
            outcomes.append(SampleOutcome(stored: stored, novelty: .corrected))
        }
    }

    /// Whether a stored record that excludes this one counts instead of it.
    private func prevails(
        _ rival: Rival, over sample: Sample, series: CachedSeries, ingest: Ingest
    ) throws -> Bool {
        if rival.precedence != .same { return rival.precedence == .before }
        if let saysMore = rival.saysMore(than: sample) { return saysMore }
        if ingest.overlaps == .largestCount, let count = sample.count,
            let other = try self.sample(rival.key, sample.metric, series: series, device: ingest.device)?.sample.count,
            other != count
        {
            return other > count
        }
        return rival.key.prevails(over: SampleKey(sample))
    }

    /// The records that the given record excludes, of the person that has the user slot.
    private func rivals(of sample: Sample, user: Int?, series: CachedSeries, ingest: Ingest) throws -> [Rival] {
        let isCount = sample.metric.shape == .count
        let statement = try RawStatement(isCount ? SampleTable.countRivals : SampleTable.rivals, in: database)
        let key = SampleKey(sample)
        // Counts of one source exclude each other only from the same start.
        let reach: Duration = isCount ? .milliseconds(series.longest ?? 0) : SampleLimits.duration
        let end = isCount && series.longest == nil ? key.start : key.end
        statement.bind(series.row, at: 1)
        statement.bind((key.start - reach).milliseconds, at: 2)
        statement.bind(max(key.start + .milliseconds(1), end).milliseconds, at: 3)
        statement.bind(Int64(isCount ? Self.countRivalLimit : Self.rivalLimit), at: 4)
        if isCount { statement.bind(key.start.milliseconds, at: 5) }
        var result: [Rival] = []
        while try statement.step() {
            let start = Timestamp(milliseconds: statement.int64(0))
            let other = SampleKey(
                start: start, end: start + .milliseconds(statement.int64(1)), code: statement.int64(2))
            var precedence = Precedence.same
            var detail: Sleep.Detail?
            if isCount {
                let origin = try SampleOrigin(fields: statement.bytes(5), isBeside: false)
                precedence = Precedence(of: origin, over: sample.origin)
            } else if sample.metric.shape == .sleep {
                detail = try Self.detail(ofSleepWith: statement.bytes(5), minutes: statement.double(6), sample.metric)
            }
            let excludes = precedence == .same ? key.excludes(other, of: sample.metric) : key.overlaps(other)
            guard excludes, ingest.wearers.areSame(statement.optionalInt(3), user) else { continue }
            result.append(
                Rival(key: other, isWithdrawn: statement.int64(4) != 0, precedence: precedence, detail: detail))
        }
        return result
    }

    /// How much a sleep says, from the columns of `SampleTable.rivals`: most have no unknown depth, and are not parsed for it.
    private static func detail(
        ofSleepWith fields: [UInt8]?, minutes: Double, _ metric: Metric
    ) throws -> Sleep.Detail {
        if minutes < 1 { return .inBed }
        guard let fields, case .sleep(let sleep) = try Reading(metric: metric, value: minutes, fields: fields) else {
            return .stages
        }
        return sleep.detail
    }

    private func sample(
        _ key: SampleKey, _ metric: Metric, series: CachedSeries, device: DeviceID
    ) throws -> StoredSample? {
        let lookup = try RawStatement(SampleTable.lookup, in: database)
        return try SampleTable.find(key, series: series.row, device: device, metric: metric, by: lookup)
    }

    /// Writes whether a sample is valid, with its revision.
    private func mark(_ stored: StoredSample, series: CachedSeries) throws {
        let statement = try RawStatement(SampleTable.mark, in: database)
        SampleTable.bind(SampleKey(stored.sample), series: series.row, to: statement)
        statement.bind(stored.isWithdrawn, at: 5)
        statement.bind(Int64(stored.revision), at: 6)
        statement.bind(stored.receivedAt.milliseconds, at: 7)
        _ = try statement.run()
    }
}

extension Sample {
    /// How much it says if it is a sleep.
    var sleepDetail: Sleep.Detail? { if case .sleep(let sleep) = reading { sleep.detail } else { nil } }

    /// What was counted; `nil` for anything else.
    var count: Double? {
        if case .count(let increment) = reading { increment.amount } else { nil }
    }
}
