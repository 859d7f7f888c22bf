import GRDB
import Vitals

extension Transaction {
    /// Inserts samples, and applies the decision about them.
    /// - Parameter marksPending: whether the statistics of hours that were over become pending.
    func ingest(_ ingest: Ingest, marksPending: Bool = false) throws -> IngestResult {
        var cached = try cachedDevice(of: ingest.device)
        let journaled = try journalOutcomes(of: ingest, in: &cached)
        let isJournaled = journaled != nil
        if let journaled {
            try journal(journaled, in: &cached)
        } else {
            try foldSeries(of: ingest, in: cached)
        }
        // The outcomes of the journal are those of the samples, one by one.
        var (outcomes, own) = try journaled.map { ($0, Array($0.indices)) } ?? insert(ingest, in: &cached)
        let moved = try move(ingest, in: &cached, outcomes: &outcomes)
        let decision = ingest.decide(outcomes)
        if marksPending { try markPending(outcomes, in: &cached, at: ingest.receivedAt) }

        for (metric, moment) in ingest.cursors { try move(cursor: moment, of: metric, in: &cached) }
        for (metric, moment) in decision.highWater {
            var series = try series(metric, of: &cached)
            series.highWater = moment.milliseconds
            series.isChanged = true
            cached.series[metric.index] = series
        }
        for (metric, key) in decision.latest {
            guard var series = cached.series[metric.index], series.latest != key else { continue }
            series.latest = key
            series.isChanged = true
            cached.series[metric.index] = series
        }
        for level in decision.levels { try save(level, of: cached) }
        for day in decision.unsettledDays {
            try markUnsettled(day.day, of: try series(day.metric, of: &cached).row)
        }
        if isJournaled { journalSeries(of: &cached) }
        try save(cached, of: ingest.device)
        if !decision.changes.isEmpty { try save(decision.changes, of: ingest.device) }
        var repeated: Set<Int> = []
        for (place, (lane, content)) in decision.facts.enumerated() {
            if case .alert(let event, _) = content, event.rule.warning != nil, try !note(warning: event, of: cached) {
                repeated.insert(place)
            } else if isJournaled, case .measurement(let measurement) = content {
                try journal(measurement, in: lane, of: ingest.device, at: ingest.receivedAt)
            } else {
                try publish(content, in: lane, of: ingest.device, at: ingest.receivedAt)
            }
        }

        var result = IngestResult(
            novelties: own.map { outcomes[$0].stored.isWithdrawn ? .withdrawn : outcomes[$0].novelty })
        result.repeatedFacts = repeated
        result.moved = moved
        for outcome in outcomes {
            switch outcome.novelty {
            case .new: result.new += 1
            case .corrected: result.corrected += 1
            case .known: result.known += 1
            case .withdrawn: break
            }
        }
        return result
    }

    /// Inserts the samples without a lookup. Only if a key exists is the stored sample read and compared.
    /// - Returns: the outcomes, and the places among them of those of the samples themselves.
    private func insert(
        _ ingest: Ingest, in cached: inout CachedDevice
    ) throws -> (outcomes: [SampleOutcome], own: [Int]) {
        var outcomes: [SampleOutcome] = []
        var own: [Int] = []
        own.reserveCapacity(ingest.samples.count)
        outcomes.reserveCapacity(ingest.samples.count)
        let insertion = try RawStatement(SampleTable.insertion, in: database)
        for sample in ingest.samples {
            let metric = sample.metric
            var stored = StoredSample(
                sample: sample, of: ingest.device, revision: sample.revision ?? 1, receivedAt: ingest.receivedAt)
            if sample.claim == .correction, metric.shape != .count {
                own.append(outcomes.count)
                outcomes += try takeBack(stored, in: &cached, ingest: ingest)
                continue
            }
            if sample.claim == .correction {
                guard let version = try correction(sample, in: cached, ingest: ingest) else {
                    try keepNothing(stored, in: &cached, ingest: ingest)
                    own.append(outcomes.count)
                    outcomes.append(SampleOutcome(stored: stored, novelty: .known))
                    continue
                }
                stored.sample = version
            }
            var series = try series(metric, of: &cached)
            if !metric.isInterval, sample.summedMinutes != nil,
                try hasOriginal(of: stored.sample, series: series.row, ingest: ingest)
            {
                stored.isWithdrawn = true
                own.append(outcomes.count)
                outcomes.append(SampleOutcome(stored: stored, novelty: .known))
                continue
            }
            if metric.shape == .count {
                try noteLength(of: stored.sample, in: &series)
                cached.series[metric.index] = series
            }
            SampleTable.bind(stored, series: series.row, to: insertion)
            var arrival = Arrival(outcome: SampleOutcome(stored: stored, novelty: .new))
            if try insertion.run() == 0 {
                let kept = try self.sample(keptAt: stored, series: series.row, device: ingest.device)
                if kept.sample.whose != nil || stored.sample.whose != nil {
                    // What was decided first stays.
                    (stored.sample.user, stored.sample.whose) = (kept.sample.user, kept.sample.whose)
                }
                arrival = try self.arrival(
                    of: stored, over: kept, series: series.row, outcomes: &outcomes, ingest: ingest)
            } else if let whose = stored.sample.whose, whose != .settled {
                arrival.outcome.stored.isWithdrawn = true
                try mark(arrival.outcome.stored, as: .superseded, series: series.row)
            }
            let mayReturn = ingest.overlaps == .lastReported && arrival.outcome.stored.isWithdrawn
            let mayChange = arrival.outcome.novelty != .known || arrival.isNewer || mayReturn
            if metric.isInterval, !arrival.isDropped, mayChange {
                try settlePlace(of: &arrival, series: series, outcomes: &outcomes, ingest: ingest)
            }
            if sample.claim == .original, !metric.isInterval {
                try withdrawMeans(of: sample, series: &series, in: &cached, outcomes: &outcomes, ingest: ingest)
            }
            let outcome = arrival.outcome
            own.append(outcomes.count)
            outcomes.append(outcome)
            let key = SampleKey(outcome.stored.sample)
            guard !outcome.stored.isWithdrawn, !outcome.stored.sample.isBeside else { continue }
            let excludesLatest = series.latest.map { key.excludes($0, of: metric) } == true
            let mayEndEarlier = ingest.overlaps != .latestEnd || outcome.stored.sample.changedAt != nil
            if mayEndEarlier && excludesLatest || series.latest.map({ $0.end < key.end }) ?? true {
                series.latest = key
                series.isChanged = true
                cached.series[metric.index] = series
            }
        }
        return (outcomes, own)
    }

    /// The stored samples of a sample's source that begin with it.
    func own(beside sample: Sample, in cached: CachedDevice, of device: DeviceID) throws -> [StoredSample] {
        guard let series = cached.series[sample.metric.index]?.row else { return [] }
        let statement = try RawStatement(SampleTable.beginning, in: database)
        statement.bind(series, at: 1)
        statement.bind(sample.start.milliseconds, at: 2)
        var found: [StoredSample] = []
        while try statement.step() {
            let stored = try SampleTable.read(statement, device: device, metric: sample.metric)
            if sample.precedence(over: stored.sample) == .same { found.append(stored) }
        }
        return found
    }

    private func sample(keptAt stored: StoredSample, series: Int64, device: DeviceID) throws -> StoredSample {
        let lookup = try RawStatement(SampleTable.lookup, in: database)
        guard
            let kept = try SampleTable.find(
                SampleKey(stored.sample), series: series, device: device, metric: stored.sample.metric, by: lookup)
        else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a sample with a known key is not found")
        }
        return kept
    }
}

extension StoredSample {
    /// This sample as a correction of the stored one, with a higher revision; `nil` if it corrects nothing: its content
    /// is the same, or its device revision is older.
    ///
    /// The same content with a higher device revision is a correction, too: it reverts another correction that may
    /// arrive later. So is a value that was taken back and comes again.
    func correcting(_ kept: StoredSample) -> StoredSample? {
        let revision = sample.revision ?? 0
        if sample.hasSameContent(as: kept.sample), revision <= kept.revision, !kept.isTakenBack { return nil }
        if sample.revision != nil, let keptRevision = kept.sample.revision, revision < keptRevision { return nil }
        var result = self
        result.revision = max(kept.revision + 1, revision)
        result.sample.revision = sample.revision ?? kept.sample.revision
        result.isWithdrawn = kept.isWithdrawn && !kept.isTakenBack
        return result
    }
}
