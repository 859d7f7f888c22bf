import GRDB
import Vitals

/// What became of a sample whose metric and times a stored one has already.
struct Arrival {
    var outcome: SampleOutcome
    /// The user slot of the record's previous person, if known.
    var formerUser: Int?
    /// How much the record said before, if it is a sleep.
    var formerDetail: Sleep.Detail?
    /// Whether a record of an earlier source has taken the place of a later one's.
    var isReplaced = false
    /// Whether it is not kept: an interval of a later source, or an older version.
    var isDropped = false
    /// Whether its source changed the record later than was known, maybe to the same content, or reported a withdrawn one later.
    var isNewer = false
    /// Whether the source had counted nothing before.
    var wasNothing = false
}

extension Transaction {
    /// Decides between a sample and the stored one with the same metric and times.
    ///
    /// Of one source, it is the same record in another version: the one that the source changed later, or else that comes later, has the
    /// place. Of two sources the earlier one has the place, whichever came first, and of two sleeps the one that says more. If
    /// the metric's intervals exclude each other, the later one is dropped: it hides nothing that the earlier one does not hide. Of two
    /// counts only one of nothing gives way to any other source.
    /// Any other value stands beside, under an id of its own.
    func arrival(
        of stored: StoredSample, over kept: StoredSample, series: Int64, outcomes: inout [SampleOutcome], ingest: Ingest
    ) throws -> Arrival {
        let (ours, theirs) = (stored.sample, kept.sample)
        // An earlier version of the gateway did not note the source.
        let isAdopted = (ours.origin == nil || theirs.origin == nil) && ours.hasSameContent(as: theirs)
        // A place that is free again, unless the source has one of its own.
        let isFree =
            try kept.isTakenBack && find(stored.standingBeside, series: series, ingest: ingest) == nil
        var precedence = isAdopted || isFree ? Precedence.same : ours.precedence(over: theirs)
        if precedence != .same, let detail = ours.sleepDetail, let known = theirs.sleepDetail, detail != known {
            precedence = detail > known ? .before : .behind
        }
        if precedence != .same, ours.countsNothing != theirs.countsNothing {
            precedence = theirs.countsNothing ? .before : .behind
        }
        switch precedence {
        case .same:
            return try arrival(ofVersion: stored, over: kept, series: series)
        case .behind where ours.metric.isInterval:
            var dropped = stored
            dropped.isWithdrawn = true
            return Arrival(outcome: SampleOutcome(stored: dropped, novelty: .known), isDropped: true)
        case .before where ours.metric.isInterval:
            var taking = stored
            taking.isWithdrawn = kept.isWithdrawn
            let place = outcomes.newPlace(of: kept)
            if let place {
                // Nobody has received the other one yet.
                outcomes[place].novelty = .known
                outcomes[place].stored.isWithdrawn = true
            }
            let outcome = try replace(kept, by: taking, isNew: place != nil, series: series)
            return Arrival(outcome: outcome, formerUser: theirs.user, isReplaced: true)
        case .behind: return Arrival(outcome: try put(stored.standingBeside, series: series, ingest: ingest))
        case .before:
            let own = stored.standingBeside
            // Where the order was another one before, the source keeps the id that it has.
            if try find(own, series: series, ingest: ingest) != nil {
                return Arrival(outcome: try put(own, series: series, ingest: ingest))
            }
            var moved = kept.standingBeside
            moved.revision = kept.sample.revision ?? 1
            moved.receivedAt = ingest.receivedAt
            let beside = try put(moved, series: series, ingest: ingest)
            let place = outcomes.newPlace(of: kept)
            if let place {
                outcomes[place] = beside
            } else {
                // It was published under the other id, so that it is no new value.
                outcomes.append(SampleOutcome(stored: beside.stored, novelty: .corrected))
            }
            return Arrival(outcome: try replace(kept, by: stored, isNew: place != nil, series: series))
        }
    }

    /// Decides between two versions of one record of one source.
    func arrival(
        ofVersion stored: StoredSample, over kept: StoredSample, series: Int64
    ) throws -> Arrival {
        let (ours, theirs) = (stored.sample, kept.sample)
        let saysMore = stored.saysMore(than: kept)
        let isOlder =
            if let saysMore {
                !saysMore
            } else if !ours.metric.isInterval, ours.summedMinutes ?? 0 > 0, theirs.summedMinutes == nil {
                // The value itself says more than a mean.
                true
            } else if let change = ours.changedAt, let known = theirs.changedAt {
                change < known
            } else if let report = ours.reportedAt, let known = theirs.reportedAt {
                report < known
            } else {
                false
            }
        // What took back another source's value says nothing of this one's.
        if isOlder, !kept.isTakenBack || ours.precedence(over: theirs) == .same {
            let outcome = SampleOutcome(stored: kept, novelty: .known)
            return Arrival(outcome: outcome, formerUser: theirs.user, isDropped: true)
        }
        var version = stored
        version.sample.utcOffset = ours.utcOffset ?? theirs.utcOffset
        if saysMore == nil {
            version.sample.changedAt = ours.changedAt ?? theirs.changedAt
            version.sample.reportedAt = ours.reportedAt ?? theirs.reportedAt
        }
        let isChangedLater = version.sample.changedAt != theirs.changedAt
        let isReportedLater = version.sample.changedAt == nil && version.sample.reportedAt != theirs.reportedAt
        var outcome = try correct(kept, by: version, series: series)
        let origin = ours.origin ?? theirs.origin
        let isOriginal = ours.summedMinutes == nil && theirs.summedMinutes != nil
        if outcome.novelty == .known, isChangedLater || isReportedLater || isOriginal || origin != theirs.origin {
            if isOriginal { outcome.stored.sample.summedMinutes = nil }
            outcome.stored.sample.changedAt = version.sample.changedAt
            outcome.stored.sample.reportedAt = version.sample.reportedAt
            outcome.stored.sample.origin = origin
            try rewrite(outcome.stored, series: series)
        }
        return Arrival(
            outcome: outcome, formerUser: theirs.user, formerDetail: theirs.sleepDetail,
            isNewer: isChangedLater || isReportedLater && kept.isWithdrawn, wasNothing: theirs.countsNothing)
    }

    /// Replaces the stored sample of the same key if this one corrects it. The outcome contains the stored sample.
    private func correct(_ kept: StoredSample, by stored: StoredSample, series: Int64) throws -> SampleOutcome {
        guard let correction = stored.correcting(kept) else { return SampleOutcome(stored: kept, novelty: .known) }
        try rewrite(correction, series: series)
        if kept.isTakenBack { try mark(correction, as: .counting, series: series) }
        return SampleOutcome(stored: correction, novelty: .corrected)
    }

    /// Puts a sample in the place of one of another source.
    /// - Parameter isNew: whether the other one was stored by the same ingest, so that nobody knows it.
    private func replace(
        _ kept: StoredSample, by stored: StoredSample, isNew: Bool, series: Int64
    ) throws -> SampleOutcome {
        var stored = stored
        stored.revision = max(isNew ? kept.revision : kept.revision + 1, stored.sample.revision ?? 1)
        try rewrite(stored, series: series)
        return SampleOutcome(stored: stored, novelty: isNew ? .new : .corrected)
    }

    /// Inserts a sample that stands beside another one, or corrects it.
    private func put(_ stored: StoredSample, series: Int64, ingest: Ingest) throws -> SampleOutcome {
        if let kept = try find(stored, series: series, ingest: ingest) {
            return try arrival(ofVersion: stored, over: kept, series: series).outcome
        }
        let insertion = try RawStatement(SampleTable.insertion, in: database)
        SampleTable.bind(stored, series: series, to: insertion)
        _ = try insertion.run()
        return SampleOutcome(stored: stored, novelty: .new)
    }

    private func find(_ stored: StoredSample, series: Int64, ingest: Ingest) throws -> StoredSample? {
        let lookup = try RawStatement(SampleTable.lookup, in: database)
        return try SampleTable.find(
            SampleKey(stored.sample), series: series, device: ingest.device, metric: stored.sample.metric, by: lookup)
    }

    func rewrite(_ stored: StoredSample, series: Int64) throws {
        let update = try RawStatement(SampleTable.correction, in: database)
        SampleTable.bind(stored, series: series, to: update)
        _ = try update.run()
    }

    /// Keeps in mind how long the longest count of a series is, once its samples say of which source they are: so far back one of
    /// another source may begin that overlaps a new one.
    func noteLength(of sample: Sample, in series: inout CachedSeries) throws {
        guard sample.origin != nil || series.longest != nil else { return }
        if series.longest == nil {
            let statement = try RawStatement(SampleTable.longest, in: database)
            statement.bind(series.row, at: 1)
            series.longest = try statement.step() ? statement.int64(0) : 0
            statement.reset()
        }
        let length = max(sample.duration, sample.summed ?? .zero)
        series.longest = max(series.longest ?? 0, length.inMilliseconds)
    }
}

extension StoredSample {
    /// Whether it is a version of a sleep that says more than the stored one (`true`) or less (`false`); `nil` if both say as much, are no
    /// sleeps, or the device numbers its versions.
    fileprivate func saysMore(than kept: StoredSample) -> Bool? {
        guard let ours = sample.sleepDetail, let theirs = kept.sample.sleepDetail, ours != theirs else { return nil }
        if let number = sample.revision, let known = kept.sample.revision, number != known { return nil }
        return ours > theirs
    }

    /// This sample under the id that names its source.
    fileprivate var standingBeside: StoredSample {
        var copy = self
        var origin = sample.origin ?? SampleOrigin(place: .max, name: "")
        origin.isBeside = true
        copy.sample.origin = origin
        return copy
    }
}

extension [SampleOutcome] {
    /// The place of a sample that the same ingest has stored as new; `nil` if it was stored before.
    fileprivate func newPlace(of stored: StoredSample) -> Int? {
        lastIndex { $0.novelty == .new && $0.stored.isSameRecord(as: stored) }
    }
}
