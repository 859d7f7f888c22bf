import GRDB
import Vitals

/// Live samples come a few at a time, and each of them would change a page of five tables. So a commit first appends them
/// to the journal, whose last page is the only one that changes, and a fold moves many of them to their tables at once.
///
/// The journal never hides anything: code that reads or writes samples in it folds it first, and a lane's messages
/// are all in the table, or the journal has its last ones.
extension Transaction {
    /// The most samples of an ingest for the journal. More fill pages of their own.
    static let journaledIngest = 256
    /// The samples and other requests of a commit from which on it uses no journal.
    static let bulk = 1_000
    /// The most samples in the journal, in memory about a megabyte. A fold of them takes tens of milliseconds.
    static let journaledSamples = 2_000
    /// The most records in the journal: ten minutes of one a second.
    static let journaledRecords = 600

    /// How long samples stay in the journal, so that the `sqlite3` shell shows them soon.
    static let journaledAge: Duration = .minutes(10)

    /// The outcomes of samples that can go to the journal; `nil` if the ingest belongs into the tables: it is long, or
    /// its samples correct, take back or exclude others, or say which of several sources they are of, or when that changed or
    /// reported them.
    func journalOutcomes(of ingest: Ingest, in cached: inout CachedDevice) throws -> [SampleOutcome]? {
        guard !isBulk, ingest.cursors.isEmpty, !ingest.samples.isEmpty, ingest.samples.count <= Self.journaledIngest,
            !ingest.samples.contains(where: {
                $0.metric.isInterval || $0.origin != nil || $0.changedAt != nil || $0.reportedAt != nil
                    || $0.claim != .whole || $0.whose != nil || $0.utcOffset != nil || $0.summedMinutes != nil
            })
        else { return nil }
        var outcomes: [SampleOutcome] = []
        var new = CachedJournal()
        let lookup = try RawStatement(SampleTable.lookup, in: database)
        for sample in ingest.samples {
            let metric = sample.metric
            let series = try series(metric, of: &cached).row
            let stored = StoredSample(
                sample: sample, of: ingest.device, revision: sample.revision ?? 1, receivedAt: ingest.receivedAt)
            let key = SampleKey(sample)
            let kept =
                try new.sample(key, series: series) ?? cache.journal.sample(key, series: series)
                ?? SampleTable.find(key, series: series, device: ingest.device, metric: metric, by: lookup)
            guard let kept else {
                new.add(stored, series: series)
                outcomes.append(SampleOutcome(stored: stored, novelty: .new))
                continue
            }
            guard stored.correcting(kept) == nil else { return nil }
            outcomes.append(SampleOutcome(stored: kept, novelty: .known))
        }
        return outcomes
    }

    /// Appends the new samples among outcomes of `journalOutcomes`.
    func journal(_ outcomes: [SampleOutcome], in cached: inout CachedDevice) throws {
        for outcome in outcomes where outcome.novelty == .new {
            let metric = outcome.stored.sample.metric
            var series = try series(metric, of: &cached)
            record.items.append(JournalRecord.Item(outcome.stored, series: series.row))
            cache.journal.add(outcome.stored, series: series.row)
            guard series.latest.map({ $0.end < outcome.stored.sample.end }) ?? true else { continue }
            series.latest = SampleKey(outcome.stored.sample)
            series.isChanged = true
            cached.series[metric.index] = series
        }
    }

    /// Appends a message with samples.
    func journal(_ measurement: Fact.Measurement, in lane: Lane, of device: DeviceID, at moment: Timestamp) throws {
        let samples = measurement.samples.count
        let sequence = nextSequence(in: lane, samples: samples)
        record.messages.append(
            JournalRecord.Message(
                lane: lane, sequence: sequence, device: try cachedDevice(of: device).row,
                series: try row(of: device, measurement.metric), source: measurement.source,
                isHistorical: measurement.isHistorical, user: measurement.user, samples: samples,
                madeAt: moment.milliseconds, body: SampleKeys.pack(measurement.samples)))
        cache.journal.add(
            CachedJournal.Message(sequence: sequence, samples: samples, madeAt: moment.milliseconds), in: lane)
        add(.fact(Fact(sequence: sequence, lane: lane, device: device, content: .measurement(measurement))))
    }

    /// Appends the changed series of a device.
    func journalSeries(of cached: inout CachedDevice) {
        for place in cached.series.indices {
            guard let series = cached.series[place], series.isChanged else { continue }
            record.marks.append(
                JournalRecord.Mark(series: series.row, highWater: series.highWater, latest: series.latest))
            cached.series[place]?.isChanged = false
        }
    }

    /// Writes the record as a row.
    func appendRecord() throws {
        record.counters = cache.counters
        let statement = try RawStatement("INSERT INTO journal(record) VALUES (?1)", in: database)
        statement.bind(blob: record.packed, at: 1)
        _ = try statement.run()
        record = JournalRecord()
        cache.journal.addRecord()
    }

    /// Whether the journal is to be folded with this commit.
    var isJournalFull: Bool {
        cache.journal.records >= Self.journaledRecords || cache.journal.sampleCount >= Self.journaledSamples
    }

    /// Folds the journal if its samples have been in it for long, or the clock was set.
    func foldIfOld(at moment: Timestamp) throws {
        guard let since = cache.journal.since else { return }
        if since > moment || moment - since >= Self.journaledAge { try fold() }
    }

    /// Moves everything in the journal to the tables. The counters follow at the end of the transaction.
    func fold() throws {
        guard !cache.journal.isEmpty else { return }
        if record.hasContent { try appendRecord() }
        let insertion = try RawStatement(SampleTable.insertion, in: database)
        let message = try RawStatement(OutboxTable.insertion, in: database)
        let records = try Row.fetchCursor(database.cachedStatement(sql: "SELECT record FROM journal ORDER BY number"))
        var marks: [Int64: JournalRecord.Mark] = [:]
        while let row = try records.next() {
            let record = try JournalRecord(packed: row.bytes(at: 0) ?? [])
            for item in record.items {
                item.bind(to: insertion)
                _ = try insertion.run()
            }
            for item in record.messages {
                item.bind(to: message)
                _ = try message.run()
            }
            for mark in record.marks { marks[mark.series] = mark }
        }
        for mark in marks.values.sorted(by: { $0.series < $1.series }) {
            try execute(
                """
                UPDATE series SET high_water = ?, latest_start = ?, latest_duration = ?, latest_user_initiated = ?
                WHERE id = ?
                """,
                [
                    mark.highWater, mark.latest?.start.milliseconds, mark.latest?.duration,
                    mark.latest?.isUserInitiated, mark.series,
                ])
        }
        try execute("DELETE FROM journal", [])
        cache.journal = CachedJournal()
        (hasFolded, countersAreChanged) = (true, true)
    }

    /// Folds the journal if it has samples of an ingest's series: the table must have them to compare.
    func foldSeries(of ingest: Ingest, in cached: CachedDevice) throws {
        let isJournaled = ingest.samples.contains { sample in
            cached.series[sample.metric.index].map { cache.journal.has(series: $0.row) } ?? false
        }
        if isJournaled { try fold() }
    }
}
