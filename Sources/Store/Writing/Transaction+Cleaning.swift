import GRDB
import JSON
import Vitals

extension Transaction {
    /// Drops a limited number of rows over the limits or, with `byAge`, older than their retention. Returns whether
    /// more may remain to be dropped.
    func clean(at moment: Timestamp, byAge: Bool, options: StoreOptions) throws -> Bool {
        try foldIfOld(at: moment)
        let limit = options.cleanLimit
        var isAtLimit = false
        func note(_ rows: Int) { if rows >= limit { isAtLimit = true } }

        note(try evict(at: moment, byAge: byAge, options: options))
        note(try dropQuarantined(at: moment, byAge: byAge, options: options))
        guard byAge else { return isAtLimit }
        note(
            try dropAnswers(
                "number IN (SELECT number FROM command WHERE answered_at < ?1 ORDER BY answer LIMIT ?2)",
                [(moment - options.answerAge).milliseconds, limit]))
        for lane in Lane.allCases where lane != .answer {
            note(try dropDelivered(lane, at: moment, replayAge: options.replayAge, limit: limit))
        }
        // Samples and days come last: the facts that refer to them are either gone by now or stay.
        if !isAtLimit, let retention = options.sampleRetention {
            note(try dropSamples(before: moment - retention, limit: limit))
            note(try EdgeTable.drop(before: moment - retention, limit: limit, in: database))
        }
        if !isAtLimit, let retention = options.dailyRetention {
            note(try dropDays(before: moment - retention, limit: limit))
        }
        return isAtLimit
    }

    /// Drops delivered facts that are too old to be replayed. Numbers ascend with time, so only the lane's beginning is
    /// checked. Facts dated as far in the future go too: they would block all facts behind them.
    private func dropDelivered(_ lane: Lane, at moment: Timestamp, replayAge: Duration, limit: Int) throws -> Int {
        try execute(
            """
            DELETE FROM message WHERE lane = ?1 AND sequence IN (
                SELECT sequence FROM (
                    SELECT sequence, made_at FROM message WHERE lane = ?1 AND sequence <= ?2 ORDER BY sequence LIMIT ?4)
                WHERE made_at NOT BETWEEN ?3 AND ?5)
            """,
            [
                lane.rawValue, cache.counters.lanes[lane.rawValue].acknowledged, (moment - replayAge).milliseconds,
                limit,
                (moment + max(replayAge, .days(1))).milliseconds,
            ])
        return changes
    }

    /// Drops samples measured before a moment, except those that a stored fact may refer to. If such samples come
    /// first, the others wait for them: at most `replayAge` once the facts are delivered.
    private func dropSamples(before moment: Timestamp, limit: Int) throws -> Int {
        try execute(
            """
            DELETE FROM sample WHERE (series, start, duration, user_initiated) IN (
                SELECT series, start, duration, user_initiated FROM (
                    SELECT series, start, duration, user_initiated, received_at FROM sample
                    WHERE series IN (SELECT id FROM series) AND start < ?1 LIMIT ?3)
                WHERE received_at < ?2)
            """, [moment.milliseconds, try oldestFact(), limit])
        return changes
    }

    /// Drops daily summaries of days before a moment, except those that a stored fact may refer to.
    private func dropDays(before moment: Timestamp, limit: Int) throws -> Int {
        try execute(
            """
            DELETE FROM day WHERE (series, day) IN (
                SELECT series, day FROM (
                    SELECT series, day, updated_at FROM day WHERE series IN (SELECT id FROM series) AND day < ?1 LIMIT ?3)
                WHERE coalesce(updated_at, 0) < ?2)
            """, [Self.oldestDay(moment), try oldestFact(), limit])
        return changes
    }

    /// The number of the first day to keep when days before a moment are dropped. Days count from 1970 like moments;
    /// one extra day lets them end in every time zone.
    static func oldestDay(_ moment: Timestamp) -> Int64 {
        moment.milliseconds / Duration.days(1).inMilliseconds - 1
    }

    /// The time of the oldest stored fact. No stored fact contains anything received or computed earlier.
    private func oldestFact() throws -> Int64 {
        try Lane.allCases.reduce(try QuarantineTable.oldest(in: database) ?? .max) { oldest, lane in
            let statement = try database.cachedStatement(
                sql: "SELECT made_at FROM message WHERE lane = ? ORDER BY sequence LIMIT 1")
            return min(oldest, try Int64.fetchOne(statement, arguments: [lane.rawValue]) ?? .max)
        }
    }
}
