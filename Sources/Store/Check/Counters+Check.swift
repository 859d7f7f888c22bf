import GRDB
import Vitals

extension Counters {
    /// Where the counters do not agree with the rows that they count.
    static func findings(in database: Database) throws -> [String] {
        let records: [JournalRecord]
        let counters: Counters
        do {
            records =
                try Row.fetchAll(database, sql: "SELECT record FROM journal ORDER BY number")
                .map { try JournalRecord(packed: $0.bytes(at: 0) ?? []) }
            counters = try records.last?.counters ?? tables(in: database)
        } catch is StoreError {
            // The record that cannot be decoded was found already.
            return []
        }
        let messages = records.flatMap(\.messages)
        var findings: [String] = []
        for lane in Lane.allCases {
            let counted = counters.lanes[lane.rawValue]
            var waiting = try self.waiting(in: lane, after: counted.acknowledged, database)
            for message in messages where message.lane == lane && message.sequence > counted.acknowledged {
                waiting.messages += 1
                waiting.samples += Int64(message.samples)
            }
            guard waiting.messages != counted.messages || waiting.samples != counted.samples else { continue }
            findings.append(
                "The lane \(lane.name) counts \(counted.messages) waiting messages with \(counted.samples) samples, and has "
                    + "\(waiting.messages) with \(waiting.samples).")
        }
        // By lane, which the key finds at once.
        let inLanes = try Lane.allCases.map { lane in
            let sql = "SELECT max(sequence) FROM message WHERE lane = ?"
            return try Int64.fetchOne(database, sql: sql, arguments: [lane.rawValue]) ?? 0
        }
        let quarantined = try Int64.fetchOne(database, sql: "SELECT max(sequence) FROM quarantine") ?? 0
        let last = max(quarantined, inLanes.max() ?? 0, messages.map(\.sequence).max() ?? 0)
        if last > counters.lastSequence {
            findings.append("The last number of a fact is \(counters.lastSequence), and there is the fact \(last).")
        }
        let answer = try Int64.fetchOne(database, sql: "SELECT max(answer) FROM command") ?? 0
        if answer > counters.lastAnswer {
            findings.append(
                "The last number of an answer is \(counters.lastAnswer), and there is the answer \(answer).")
        }
        return findings
    }

    /// What waits in the tables.
    private static func waiting(
        in lane: Lane, after acknowledged: Int64, _ database: Database
    ) throws -> (messages: Int64, samples: Int64) {
        let sql =
            lane == .answer
            ? "SELECT count(*), 0 FROM command WHERE ?1 = 1 AND answer > ?2"
            : "SELECT count(*), ifnull(sum(samples), 0) FROM message WHERE lane = ?1 AND sequence > ?2"
        guard let row = try Row.fetchOne(database, sql: sql, arguments: [lane.rawValue, acknowledged]) else {
            return (0, 0)
        }
        return (row[0], row[1])
    }
}
