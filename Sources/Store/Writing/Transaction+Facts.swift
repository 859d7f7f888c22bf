import GRDB
import JSON
import Vitals

extension Transaction {
    /// Makes a fact with the next number.
    func publish(_ content: Fact.Content, in lane: Lane, of device: DeviceID, at moment: Timestamp) throws {
        // A reader sees all of a lane up to some number, or it would take the rest for dropped.
        if !cache.journal.messages[lane.rawValue].isEmpty { try fold() }
        let message = try OutboxTable.Entry(content, of: device, in: self)
        let sequence = nextSequence(in: lane, samples: message.samples)
        let statement = try RawStatement(OutboxTable.insertion, in: database)
        statement.bind(Int64(lane.rawValue), at: 1)
        statement.bind(sequence, at: 2)
        statement.bind(message.kind.rawValue, at: 3)
        statement.bind(message.device, at: 4)
        statement.bind(message.series, at: 5)
        statement.bind(text: message.source.map { Array($0.rawValue.utf8) }, at: 6)
        statement.bind(message.isHistorical, at: 7)
        statement.bind(message.user, at: 8)
        statement.bind(message.day, at: 9)
        statement.bind(Int64(message.samples), at: 10)
        statement.bind(moment.milliseconds, at: 11)
        statement.bind(blob: message.body, at: 12)
        _ = try statement.run()
        if case .alert(let event, _) = content {
            try EdgeTable.add(event, body: message.body ?? [], of: message.device, in: database)
        }
        add(.fact(Fact(sequence: sequence, lane: lane, device: device, content: content)))
    }

    /// Records that the broker has everything of a lane up to a number.
    func acknowledge(_ lane: Lane, through: Int64) throws {
        let previous = cache.counters.lanes[lane.rawValue].acknowledged
        let last = lane == .answer ? cache.counters.lastAnswer : cache.counters.lastSequence
        let through = min(through, last)
        guard through > previous else { return }
        let (messages, samples) = try waiting(in: lane, after: previous, through: through)
        count(-messages, samples: -samples, in: lane)
        if lane == .answer {
            for (key, size) in try CommandTable.sizes(after: previous, through: through, in: database) {
                cache.waitingAnswers.remove(size, of: key)
            }
        }
        cache.counters.lanes[lane.rawValue].acknowledged = through
    }

    private func waiting(in lane: Lane, after: Int64, through: Int64) throws -> (messages: Int64, samples: Int) {
        let sql =
            lane == .answer
            ? "SELECT count(*), 0 FROM command WHERE ?1 = 1 AND answer > ?2 AND answer <= ?3"
            : "SELECT count(*), total(samples) FROM message WHERE lane = ?1 AND sequence > ?2 AND sequence <= ?3"
        let statement = try RawStatement(sql, in: database)
        statement.bind(Int64(lane.rawValue), at: 1)
        statement.bind(after, at: 2)
        statement.bind(through, at: 3)
        guard try statement.step() else { return (0, 0) }
        defer { statement.reset() }
        let journaled = cache.journal.count(in: lane, after: after, through: through)
        return (statement.int64(0) + journaled.messages, Int(statement.int64(1)) + journaled.samples)
    }

    /// Stores a day's summary, and creates a fact if the day is past and its summary is new or changed.
    func settle(
        _ summary: DailySummary, of device: DeviceID, isFinal: Bool, at moment: Timestamp, options: StoreOptions
    ) throws -> DayRecord {
        let series = try row(of: device, summary.metric)
        let key: StatementArguments = [series, summary.day.number]
        if isFinal { try execute("DELETE FROM unsettled WHERE series = ? AND day = ?", key) }
        let kept = try DayTable.find(metric: summary.metric, day: summary.day, series: series, in: database)
        if let record = kept.record, record.summary == summary, record.isFinal == isFinal { return record }
        // Fewer samples or resting items are no correction once retention removes samples of the day, or of the night
        // before.
        if let record = kept.record, record.isFinal,
            summary.count < record.summary.count || summary.resting.count < record.summary.resting.count,
            let retention = options.sampleRetention,
            Int64(summary.day.number) <= Self.oldestDay(moment - retention) + 3
        {
            return record
        }
        let isChanged = kept.record.map { $0.summary != summary } ?? true
        let revision = kept.record?.revision ?? kept.revision
        let record = DayRecord(
            summary: summary, revision: revision + (isChanged ? 1 : 0), updatedAt: moment,
            isFinal: isFinal, deviceSummary: kept.deviceSummary)
        try execute(
            """
            INSERT INTO day(series, day, revision, is_final, summary, updated_at) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT(series, day) DO UPDATE SET revision = excluded.revision, is_final = excluded.is_final,
                summary = excluded.summary, updated_at = excluded.updated_at
            """,
            [series, summary.day.number, record.revision, isFinal, summary.json.text, moment.milliseconds])
        if isFinal { try publish(.day(record), in: .history, of: device, at: moment) }
        return record
    }

    /// Records that a day has data that its summary does not contain yet.
    func markUnsettled(_ day: LocalDay, of series: Int64) throws {
        try execute("INSERT INTO unsettled(series, day) VALUES (?, ?) ON CONFLICT DO NOTHING", [series, day.number])
    }

    /// Stores a device's own summary of a day, and creates a fact if the summary of a past day changed. Returns whether
    /// the day still needs to be settled.
    func store(
        deviceSummary summary: DailySummary, of device: DeviceID, at moment: Timestamp, options: StoreOptions
    ) throws -> Bool {
        // Otherwise it would be new each time the device sends it.
        if let retention = options.dailyRetention, Int64(summary.day.number) < Self.oldestDay(moment - retention) {
            return false
        }
        let series = try row(of: device, summary.metric)
        let kept = try DayTable.find(metric: summary.metric, day: summary.day, series: series, in: database)
        guard kept.deviceSummary?.hasSameContent(as: summary) != true else { return kept.record?.isFinal != true }
        try execute(
            """
            INSERT INTO day(series, day, device_summary) VALUES (?, ?, ?)
            ON CONFLICT(series, day) DO UPDATE SET device_summary = excluded.device_summary
            """,
            [series, summary.day.number, summary.json.text])
        guard var record = kept.record, record.isFinal else {
            try markUnsettled(summary.day, of: series)
            return true
        }
        record.revision += 1
        record.updatedAt = moment
        record.deviceSummary = summary
        try execute(
            "UPDATE day SET revision = ?, updated_at = ? WHERE series = ? AND day = ?",
            [record.revision, moment.milliseconds, series, summary.day.number])
        try publish(.day(record), in: .history, of: device, at: moment)
        return false
    }
}
