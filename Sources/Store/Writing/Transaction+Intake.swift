import Engines
import GRDB
import Vitals

extension Transaction {
    /// Takes samples in, and does what is decided about them.
    func take(_ intake: Intake) throws -> IntakeResult {
        var book = try book(of: intake.device)
        let outcomes = try keep(intake, in: &book)
        let decision = intake.decide(outcomes)

        for (metric, moment) in intake.cursors { try move(cursor: moment, of: metric, in: &book) }
        for (metric, moment) in decision.highWater {
            var series = try series(metric, of: &book)
            series.highWater = moment.milliseconds
            series.isChanged = true
            book.series[metric.place] = series
        }
        // The ledger knows which sample is the newest: after a clock that was ahead it is not the one that ends last.
        for (metric, newest) in decision.ledger.latest {
            let key = SampleKey(newest.sample)
            guard var series = book.series[metric.place], series.latest != key else { continue }
            series.latest = key
            series.isChanged = true
            book.series[metric.place] = series
        }
        for level in decision.levels { try save(level, of: book) }
        for day in decision.unsettledDays {
            try markUnsettled(day.day, of: try series(day.metric, of: &book).row)
        }
        try keep(book, of: intake.device)
        for (lane, content) in decision.facts {
            try publish(content, in: lane, of: intake.device, at: intake.receivedAt)
        }

        var result = IntakeResult(
            ledger: decision.ledger, new: 0, corrected: 0, known: 0, levels: decision.levels,
            unsettledDays: decision.unsettledDays)
        for outcome in outcomes {
            switch outcome.novelty {
            case .new: result.new += 1
            case .corrected: result.corrected += 1
            case .known: result.known += 1
            }
        }
        return result
    }

    /// Writes the samples. Each is inserted without asking; only where its key is taken the kept one is read and compared.
    private func keep(_ intake: Intake, in book: inout DeviceBook) throws -> [SampleOutcome] {
        var outcomes: [SampleOutcome] = []
        outcomes.reserveCapacity(intake.samples.count)
        let insertion = try RawStatement(SampleTable.insertion, in: database)
        for incoming in intake.samples {
            let metric = incoming.sample.metric
            var series = try series(metric, of: &book)
            var stored = StoredSample(
                sample: incoming.sample, id: incoming.id, revision: incoming.sample.revision ?? 1,
                receivedAt: intake.receivedAt)
            SampleTable.bind(stored, series: series.row, to: insertion)
            var novelty = SampleOutcome.Novelty.new
            if try insertion.run() == 0 {
                novelty = try correct(&stored, series: series.row, device: intake.device) ? .corrected : .known
            }
            outcomes.append(SampleOutcome(stored: stored, novelty: novelty))
            if series.latest.map({ $0.end < stored.sample.end }) ?? true {
                series.latest = SampleKey(stored.sample)
                series.isChanged = true
                book.series[metric.place] = series
            }
        }
        return outcomes
    }

    /// Compares a sample with the one that is kept at its key, and keeps it instead where it is a correction. `stored` is
    /// what is kept afterwards.
    private func correct(_ stored: inout StoredSample, series: Int64, device: DeviceID) throws -> Bool {
        let lookup = try RawStatement(SampleTable.lookup, in: database)
        let sample = stored.sample
        guard
            let kept = try SampleTable.find(
                SampleKey(sample), series: series, device: device, metric: sample.metric, by: lookup)
        else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a sample is there and is not found")
        }
        if let correction = stored.correcting(kept) {
            let update = try RawStatement(SampleTable.correction, in: database)
            SampleTable.bind(correction, series: series, to: update)
            _ = try update.run()
            stored = correction
            return true
        }
        stored = kept
        return false
    }
}

extension StoredSample {
    /// This sample as the correction of the one that is kept, with a higher revision; `nil` where it corrects nothing: the
    /// content is the same, or the device says that it is older.
    ///
    /// The same content with a higher revision of the device is a correction, too: it takes back another one, which may be
    /// told later.
    func correcting(_ kept: StoredSample) -> StoredSample? {
        let revision = sample.revision ?? 0
        if sample.hasSameContent(as: kept.sample), revision <= kept.revision { return nil }
        if sample.revision != nil, let keptRevision = kept.sample.revision, revision < keptRevision { return nil }
        var result = self
        result.revision = max(kept.revision + 1, revision)
        result.sample.revision = sample.revision ?? kept.sample.revision
        return result
    }
}
