import GRDB
import Vitals

/// A record that may exclude another record.
private struct Rival {
    var key: SampleKey
    var standing: Standing
    /// How its source compares with that of the record beside which it was found.
    var precedence: Precedence
    /// When its source changed it.
    var changedAt: Timestamp?
    /// When its source reported it, if it does not say that.
    var reportedAt: Timestamp?
    /// How much it says if it is a sleep.
    var detail: Sleep.Detail?
    /// Whether it is a count of nothing.
    var countsNothing = false

    var isOwn: Bool { precedence == .same }

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

    /// Decides which records are valid after a record arrived, changed, or was assigned to another person. It withdraws the
    /// records that this one replaces, or this one if another prevails.
    ///
    /// Of one source, a record is superseded as soon as a known record excludes it and prevails, even if that one is superseded itself.
    /// Between sources only records that are not superseded count. The same records thus end in the same state, in any order and after
    /// any number of arrivals, except where the order of arrival is all that is known of two versions.
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
        let hasMoved = outcome.novelty == .corrected && hasNewPerson
        // A sleep may say more or less than before.
        let former = outcome.novelty == .corrected ? arrival.formerDetail : nil
        let detail = stored.sample.sleepDetail
        let isToldAnew = former != nil && former != detail
        let saysLess = if let former, let detail { detail < former } else { false }
        let isReported =
            switch ingest.overlaps {
            case .latestEnd: false
            case .lastReported: stored.isWithdrawn
            case .newest: outcome.novelty == .corrected
            }
        if arrival.isReplaced || saysLess {
            try freeRivals(of: stored.sample, own: saysLess, series: series, outcomes: &outcomes, ingest: ingest)
        }
        var standing: Standing?
        var replaced: [SampleKey] = []
        // What was nothing hides others again, and what becomes it hides none.
        let becomesNothing = outcome.novelty == .corrected && stored.sample.countsNothing
        let isOther =
            outcome.novelty == .new || hasNewPerson || isToldAnew || arrival.isReplaced
            || arrival.wasNothing && outcome.novelty == .corrected
        if isOther || arrival.isNewer || isReported {
            (standing, replaced) = try settle(stored.sample, series: series, outcomes: &outcomes, ingest: ingest)
        }
        let isWithdrawn = standing.map { $0 != .counting } ?? stored.isWithdrawn
        let wasCounting = !stored.isWithdrawn && outcome.novelty != .new
        if isWithdrawn || stored.isWithdrawn {
            outcome.stored.isWithdrawn = isWithdrawn
            if outcome.novelty == .known, isWithdrawn != stored.isWithdrawn {
                // Without a change of its content, it counts again, or no more.
                outcome.novelty = .corrected
                outcome.stored.revision += 1
                outcome.stored.receivedAt = ingest.receivedAt
            }
            if isWithdrawn { outcome.novelty = wasCounting ? .withdrawn : .known }
            try mark(outcome.stored, as: standing, series: series)
        }
        if stored.sample.origin != nil {
            for key in replaced {
                guard let old = try sample(key, stored.sample.metric, series: series, device: ingest.device)
                else { continue }
                try restoreRivals(
                    of: old.sample, user: stored.sample.user, hiddenOnly: true, series: series, outcomes: &outcomes,
                    ingest: ingest)
            }
        }
        let givesWay = hasMoved || saysLess || isWithdrawn && wasCounting
        if givesWay || arrival.isReplaced || becomesNothing {
            try restoreRivals(
                of: stored.sample, user: hasMoved ? formerUser : stored.sample.user, hiddenOnly: !givesWay,
                series: series, outcomes: &outcomes, ingest: ingest)
        }
    }

    /// Lets records take part again that nothing of their own source supersedes any more, now that the one that did says less, or a record
    /// of an earlier source has its place. At first they are hidden, and hide others.
    /// - Parameter own: whether records of the sample's own source are meant, or those of all others.
    private func freeRivals(
        of sample: Sample, own: Bool, series: CachedSeries, outcomes: inout [SampleOutcome], ingest: Ingest
    ) throws {
        for rival in try rivals(of: sample, user: sample.user, series: series, ingest: ingest)
        where rival.standing == .superseded && rival.isOwn == own {
            guard let stored = try self.sample(rival.key, sample.metric, series: series, device: ingest.device)
            else { continue }
            let others = try rivals(of: stored.sample, user: sample.user, series: series, ingest: ingest)
            var behind: [SampleKey] = []
            var isSuperseded = false
            for other in others {
                let isAhead = try prevails(other, over: stored.sample, after: [], series: series, ingest: ingest)
                if other.isOwn {
                    isSuperseded = isSuperseded || isAhead != false
                } else if isAhead == false, other.standing == .counting, other.key != SampleKey(sample) {
                    behind.append(other.key)
                }
            }
            guard !isSuperseded else { continue }
            try mark(stored, as: .hidden, series: series)
            for key in behind {
                try withdraw(key, sample.metric, as: .hidden, series: series, outcomes: &outcomes, ingest: ingest)
            }
        }
    }

    /// Finds out whether a record counts beside those that it excludes, and withdraws those over which it prevails.
    /// - Returns: the result, and the records of its own source that it has superseded.
    private func settle(
        _ sample: Sample, series: CachedSeries, outcomes: inout [SampleOutcome], ingest: Ingest
    ) throws -> (standing: Standing?, replaced: [SampleKey]) {
        let found = try rivals(of: sample, user: sample.user, series: series, ingest: ingest)
        var (isSuperseded, isHidden) = (false, false)
        var others: [(rival: Rival, isSurelyBehind: Bool)] = []
        for rival in found {
            let isAhead = try prevails(rival, over: sample, after: outcomes, series: series, ingest: ingest)
            if isAhead == true {
                isSuperseded = isSuperseded || rival.isOwn
                isHidden = true
            } else {
                // The one that arrives is the newest.
                others.append((rival, isAhead == false))
            }
        }
        var replaced: [SampleKey] = []
        for (rival, isSurelyBehind) in others {
            // An interval in which nothing was counted hides none of another source.
            if !rival.isOwn, sample.countsNothing || rival.countsNothing && rival.precedence == .before { continue }
            let next: Standing = rival.isOwn ? .superseded : .hidden
            // What is superseded itself hides nothing, and replaces only what would be behind it in any order of arrival.
            if isSuperseded, !rival.isOwn || !isSurelyBehind { continue }
            if rival.standing.rawValue >= next.rawValue { continue }
            if rival.standing == .counting {
                try withdraw(rival.key, sample.metric, as: next, series: series, outcomes: &outcomes, ingest: ingest)
            } else if let stored = try self.sample(rival.key, sample.metric, series: series, device: ingest.device) {
                try mark(stored, as: next, series: series)
            }
            if rival.isOwn { replaced.append(rival.key) }
        }
        let standing: Standing = isSuperseded ? .superseded : isHidden ? .hidden : .counting
        return (standing, replaced)
    }

    /// Withdraws a valid record. A record of the same ingest was never published, and is not published now.
    func withdraw(
        _ key: SampleKey, _ metric: Metric, as standing: Standing, series: CachedSeries,
        outcomes: inout [SampleOutcome], ingest: Ingest
    ) throws {
        guard var stored = try sample(key, metric, series: series, device: ingest.device) else { return }
        stored.isWithdrawn = true
        if let place = outcomes.lastIndex(where: { $0.novelty != .known && $0.stored.isSameRecord(as: stored) }) {
            let novelty = outcomes[place].novelty
            outcomes[place] = SampleOutcome(stored: stored, novelty: .known)
            if novelty == .new { return try mark(stored, as: standing, series: series) }
        }
        stored.revision += 1
        stored.receivedAt = ingest.receivedAt
        try mark(stored, as: standing, series: series)
        outcomes.append(SampleOutcome(stored: stored, novelty: .withdrawn))
    }

    /// Restores a person's records if nothing excludes them any more, now that a record has another person, says less, or does not count.
    /// - Parameter hiddenOnly: whether only those come back that a record of another source has hidden.
    func restoreRivals(
        of sample: Sample, user: Int?, hiddenOnly: Bool, series: CachedSeries, outcomes: inout [SampleOutcome],
        ingest: Ingest
    ) throws {
        for rival in try rivals(of: sample, user: user, series: series, ingest: ingest)
        where hiddenOnly ? rival.standing == .hidden : rival.standing != .counting {
            guard var stored = try self.sample(rival.key, sample.metric, series: series, device: ingest.device)
            else { continue }
            let others = try rivals(of: stored.sample, user: user, series: series, ingest: ingest)
            let isExcluded = try others.contains { other in
                let isAhead = try prevails(other, over: stored.sample, after: [], series: series, ingest: ingest)
                return isAhead ?? (other.standing != .superseded)
            }
            guard !isExcluded else { continue }
            stored.isWithdrawn = false
            stored.revision += 1
            stored.receivedAt = ingest.receivedAt
            try mark(stored, as: .counting, series: series)
            outcomes.append(SampleOutcome(stored: stored, novelty: .corrected))
        }
    }

    /// Whether a stored record that excludes this one counts instead of it; `nil` if only the order of arrival can tell.
    /// - Parameter outcomes: those so far of the ingest with which the record arrived, or changed; empty for one that was known.
    private func prevails(
        _ rival: Rival, over sample: Sample, after outcomes: [SampleOutcome], series: CachedSeries, ingest: Ingest
    ) throws -> Bool? {
        let key = SampleKey(sample)
        if !rival.isOwn, rival.standing == .superseded || rival.countsNothing { return false }
        // A time in bed, or a night without stages, replaces no night with stages, however late it is reported.
        if let saysMore = rival.saysMore(than: sample) { return saysMore }
        // In documents, nothing of an interval says nothing of another one.
        if rival.isOwn, ingest.overlaps == .newest, rival.countsNothing != sample.countsNothing {
            return sample.countsNothing && rival.standing != .superseded
        }
        guard rival.isOwn else {
            return sample.metric.shape == .count ? rival.precedence == .before : rival.key.prevails(over: key)
        }
        if let ours = sample.changedAt, let theirs = rival.changedAt {
            if ours != theirs { return theirs > ours }
            // Sessions of a sleep that an app changed at once may be joined to several sleeps.
            if ingest.overlaps == .newest { return rival.key.prevails(over: key) }
        }
        switch ingest.overlaps {
        case .latestEnd: return rival.key.prevails(over: key)
        case .lastReported: return nil
        case .newest:
            let isOfSameIngest = outcomes.contains { outcome in
                let other = outcome.stored.sample
                return (outcome.novelty == .new || outcome.novelty == .corrected) && other.metric == sample.metric
                    && SampleKey(other) == rival.key
            }
            if isOfSameIngest { return rival.key.prevails(over: key) }
            let other = try self.sample(rival.key, sample.metric, series: series, device: ingest.device)?.sample
            if let other, sample.isCut(beside: other) || other.isCut(beside: sample) {
                return rival.key.prevails(over: key)
            }
            guard let ours = sample.reportedAt, let theirs = rival.reportedAt else { return nil }
            // Of the same time they are of one document, in which the rival may come later.
            let isOfSameDocument =
                ours == theirs
                || ingest.samples.contains {
                    $0.reportedAt == ours && $0.metric == sample.metric && SampleKey($0) == rival.key
                }
            return isOfSameDocument ? rival.key.prevails(over: key) : theirs > ours
        }
    }

    /// The records that the given record excludes, of the person that has the user slot.
    private func rivals(of sample: Sample, user: Int?, series: CachedSeries, ingest: Ingest) throws -> [Rival] {
        let isCount = sample.metric.shape == .count
        let statement = try RawStatement(isCount ? SampleTable.countRivals : SampleTable.rivals, in: database)
        let key = SampleKey(sample)
        // Counts of one source exclude each other only from the same start.
        let reach: Duration = isCount ? .milliseconds(series.longest ?? 0) : SampleLimits.duration
        let end =
            isCount && series.longest == nil
            ? key.start : max(key.end, key.start + (isCount ? sample.summed ?? .zero : .zero))
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
            let overlaps = key.overlaps(other)
            guard overlaps || isCount, ingest.wearers.areSame(statement.optionalInt(3), user) else { continue }
            let fields = statement.bytes(5)
            let head = try RowHead(fields: fields, isBeside: false)
            guard overlaps || sample.isExchanged(for: other, head) else { continue }
            let precedence = Precedence(of: head.origin, over: sample.origin)
            let excludes = precedence == .same || !isCount ? key.excludes(other, of: sample.metric) : true
            guard excludes else { continue }
            var rival = Rival(
                key: other, standing: Standing(rawValue: statement.int64(4)) ?? .hidden, precedence: precedence,
                changedAt: head.changedAt, reportedAt: head.reportedAt)
            if isCount, statement.double(6) == 0 {
                let reading = try Reading(metric: sample.metric, value: 0, fields: fields)
                rival.countsNothing = Sample(metric: sample.metric, start: start, reading: reading).countsNothing
                // It may be kept in mind only (`keepNothing`).
                if ingest.overlaps == .newest, rival.countsNothing, rival.standing == .superseded { continue }
            }
            if sample.metric.shape == .sleep {
                rival.detail = try Self.detail(
                    ofSleepWith: statement.int64(7) != 0 ? fields : nil, minutes: statement.double(6), sample.metric)
            }
            result.append(rival)
        }
        return result
    }

    /// How much a sleep says, from the columns of `SampleTable.rivals`. Most have no unknown depth, and are given without fields:
    /// they are not parsed for it.
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

    /// Writes whether a sample counts, with its revision.
    /// - Parameter standing: `nil` for as it is.
    private func mark(_ stored: StoredSample, as standing: Standing?, series: CachedSeries) throws {
        let statement = try RawStatement(SampleTable.mark, in: database)
        SampleTable.bind(SampleKey(stored.sample), series: series.row, to: statement)
        statement.bind(standing?.rawValue, at: 5)
        statement.bind(Int64(stored.revision), at: 6)
        statement.bind(stored.receivedAt.milliseconds, at: 7)
        _ = try statement.run()
    }
}

extension Sample {
    /// Whether a count and a stored one are a sum of an app that does not say its end, and a record of an export within it. A record that
    /// begins in the last second of the sum may be of the time behind it: `AppleExport` lets counts begin before their minute.
    fileprivate func isExchanged(for other: SampleKey, _ head: RowHead) -> Bool {
        let rest: Duration = .seconds(1)
        if origin?.isOfExport == true, let minutes = head.summedMinutes {
            return other.reaches(SampleKey(self), within: .minutes(Int(minutes)) - rest)
        }
        guard head.origin?.isOfExport == true, let summed else { return false }
        return SampleKey(self).reaches(other, within: summed - rest)
    }

    /// How much it says if it is a sleep.
    var sleepDetail: Sleep.Detail? { if case .sleep(let sleep) = reading { sleep.detail } else { nil } }

    /// Whether it does not correct a record of its source, since the window of a document has cut it: a count that ends earlier and is
    /// smaller, or a sleep of which that is known (`claim`), begins later, and has the same stages in the time of both.
    fileprivate func isCut(beside other: Sample) -> Bool {
        switch (reading, other.reading) {
        case (.count(let part), .count(let whole)): return end < other.end && part.amount < whole.amount
        case (.sleep(let ours), .sleep(let theirs)):
            guard claim == .part, other.start < start else { return false }
            let (from, to) = (max(start, other.start), min(end, other.end))
            func common(_ sleep: Sleep) -> [Sleep.Stage] {
                // Stages of joined sessions may have begun before the window.
                sleep.stages.filter { $0.start < to && $0.end > from }
                    .map { Sleep.Stage($0.depth, from: max($0.start, from), to: $0.end) }
            }
            let stages = common(ours)
            return !stages.isEmpty && stages == common(theirs)
        default: return false
        }
    }
}
