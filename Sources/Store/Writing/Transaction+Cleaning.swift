import Engines
import GRDB
import JSON
import Vitals

extension Transaction {
    /// Drops a bounded part of what is over the limits or older than its retention. Returns whether more may be to do.
    func clean(at moment: Timestamp, options: StoreOptions) throws -> Bool {
        let limit = options.cleanLimit
        var isAtLimit = false
        func note(_ rows: Int) { if rows >= limit { isAtLimit = true } }

        note(
            try dropAnswers(
                "number IN (SELECT number FROM command WHERE answered_at < ?1 ORDER BY answer LIMIT ?2)",
                [(moment - options.answerAge).milliseconds, limit]))
        note(try evict(at: moment, options: options))
        let replayFrom = (moment - options.replayAge).milliseconds
        for lane in Lane.allCases where lane != .answer {
            note(try dropDelivered(lane, madeBefore: replayFrom, limit: limit))
        }
        // Samples last: the facts that hold them back are gone by now, or stay.
        if !isAtLimit, let retention = options.sampleRetention {
            note(try dropSamples(before: moment - retention, limit: limit))
        }
        if let retention = options.dailyRetention {
            // A summary's day number counts from 1970 too; a day more lets every time zone finish it.
            let day = (moment - retention).milliseconds / 86_400_000 - 1
            try execute(
                """
                DELETE FROM day WHERE (series, day) IN (
                    SELECT series, day FROM day WHERE series IN (SELECT id FROM series) AND day < ? LIMIT ?)
                """, [day, limit])
            note(changes)
        }
        return isAtLimit
    }

    /// Drops facts that the broker has and that are too old to be sent again. Their numbers ascend with their age, so the
    /// lane's beginning tells.
    private func dropDelivered(_ lane: Lane, madeBefore: Int64, limit: Int) throws -> Int {
        try execute(
            """
            DELETE FROM message WHERE lane = ?1 AND sequence IN (
                SELECT sequence FROM message WHERE lane = ?1 AND sequence <= ?2 AND made_at < ?3
                ORDER BY sequence LIMIT ?4)
            """, [lane.rawValue, books.lanes[lane.rawValue].acknowledged, madeBefore, limit])
        return changes
    }

    /// Drops samples that were measured before a moment, but none that a kept fact may refer to: those arrived after the
    /// oldest kept fact was made.
    private func dropSamples(before moment: Timestamp, limit: Int) throws -> Int {
        var oldestFact = Int64.max
        for lane in Lane.allCases {
            let madeAt = try Int64.fetchOne(
                database, sql: "SELECT made_at FROM message WHERE lane = ? ORDER BY sequence LIMIT 1",
                arguments: [lane.rawValue])
            oldestFact = min(oldestFact, madeAt ?? .max)
        }
        try execute(
            """
            DELETE FROM sample WHERE (series, start, duration, user_initiated) IN (
                SELECT series, start, duration, user_initiated FROM sample
                WHERE series IN (SELECT id FROM series) AND start < ? AND received_at < ? LIMIT ?)
            """, [moment.milliseconds, oldestFact, limit])
        return changes
    }
}
