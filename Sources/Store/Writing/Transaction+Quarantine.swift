import GRDB
import Vitals

extension Transaction {
    /// The class of facts in `StoreStatistics.dropped` that were quarantined and then dropped at a limit.
    private static let droppedClass = "quarantined"

    /// Moves facts from the outbox to the table `quarantine`, and announces each loss by a gap.
    func quarantine(_ facts: [RefusedFact], at moment: Timestamp) throws {
        // Facts that wait in the journal are moved by their rows, too.
        try fold()
        var losses = Losses(reason: .refused)
        for fact in facts {
            let waiting = try database.cachedStatement(
                sql: "\(OutboxTable.selection) WHERE message.lane = ? AND message.sequence = ?")
            guard fact.number > cache.counters.lanes[fact.lane.rawValue].acknowledged,
                let found = try Row.fetchOne(waiting, arguments: [fact.lane.rawValue, fact.number])
            else { continue }
            let row = try OutboxRow(found)
            try execute(
                """
                INSERT OR REPLACE INTO quarantine(sequence, lane, kind, device, series, source, historical, user, day,
                    samples, made_at, body, reason, set_at)
                SELECT sequence, lane, kind, device, series, source, historical, user, day, samples, made_at, body, ?3, ?4
                FROM message WHERE lane = ?1 AND sequence = ?2
                """, [fact.lane.rawValue, fact.number, fact.reason, moment.milliseconds])
            try execute("DELETE FROM message WHERE lane = ? AND sequence = ?", [fact.lane.rawValue, fact.number])
            count(-1, samples: -row.samples, in: fact.lane)
            var lost = row
            if let samples = fact.samples, row.kind == .measurement {
                lost.samples = samples.count
                lost.body = SampleKeys.pack(samples)
                try store(samples, of: fact)
            }
            // A gap about a gap would be refused as well, and so on.
            if row.kind != .gap { try losses.add(lost, in: database) }
        }
        for (device, gap) in losses.gaps(at: moment) { try publish(.gap(gap), in: .alert, of: device, at: moment) }
    }

    /// Reduces a measurement that was quarantined to the samples that the broker did not take.
    private func store(_ samples: [StoredSample], of fact: RefusedFact) throws {
        let statement = try RawStatement(
            "UPDATE quarantine SET samples = ?1, body = ?2 WHERE sequence = ?3", in: database)
        statement.bind(Int64(samples.count), at: 1)
        statement.bind(blob: SampleKeys.pack(samples), at: 2)
        statement.bind(fact.number, at: 3)
        _ = try statement.run()
    }

    /// Forgets facts that were quarantined and reached the broker later.
    func releaseQuarantined(_ numbers: [Int64]) throws {
        for number in numbers { try execute("DELETE FROM quarantine WHERE sequence = ?", [number]) }
    }

    /// Drops quarantined facts over the limit of their number and, with `byAge`, over the age limit of the outbox: they
    /// were reported as gaps. Returns the number of dropped facts.
    func dropQuarantined(at moment: Timestamp, byAge: Bool, options: StoreOptions) throws -> Int {
        let excess = try QuarantineTable.count(in: database) - options.maximumQuarantined
        try execute(
            """
            DELETE FROM quarantine WHERE sequence IN (SELECT sequence FROM quarantine ORDER BY sequence LIMIT ?1)
                OR sequence IN (SELECT sequence FROM quarantine WHERE set_at < ?2 ORDER BY sequence LIMIT ?3)
            """,
            [
                max(0, min(excess, options.cleanLimit)),
                byAge ? (moment - options.outboxMaximumAge).milliseconds : .min, options.cleanLimit,
            ])
        let count = changes
        if count > 0 { try countDropped(count, Self.droppedClass) }
        return count
    }
}
