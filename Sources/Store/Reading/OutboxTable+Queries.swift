import GRDB
import JSON
import Vitals

extension OutboxTable {
    /// Facts of a lane that the broker does not have yet, without those whose samples are gone.
    static func pending(_ lane: Lane, after: Int64, limit: Int, in database: Database) throws -> [Fact] {
        let statement = try database.cachedStatement(
            sql: """
                \(selection) WHERE message.lane = ?1
                    AND sequence > max(?2, (SELECT acknowledged FROM lane WHERE lane.lane = ?1))
                ORDER BY sequence LIMIT ?3
                """)
        var facts: [Fact] = []
        var after = after
        while facts.count < limit {
            let page = limit - facts.count
            let rows = try Row.fetchAll(statement, arguments: [lane.rawValue, after, page]).map { try OutboxRow($0) }
            facts += try rows.compactMap { try $0.fact(in: database) }
            guard rows.count == page, let last = rows.last else { break }
            after = last.sequence
        }
        return facts
    }

    /// Facts by their numbers. Each lane is queried separately, as facts are ordered by lane on disk.
    static func facts(_ numbers: ClosedRange<Int64>, limit: Int, in database: Database) throws -> [Fact] {
        let statement = try database.cachedStatement(
            sql: "\(selection) WHERE lane = ? AND sequence BETWEEN ? AND ? ORDER BY sequence LIMIT ?")
        var rows: [OutboxRow] = []
        for lane in Lane.allCases {
            let found = try Row.fetchAll(
                statement, arguments: [lane.rawValue, numbers.lowerBound, numbers.upperBound, limit])
            rows += try found.map { try OutboxRow($0) }
        }
        rows += try QuarantineTable.rows(numbers, limit: limit, in: database)
        rows.sort { $0.sequence < $1.sequence }
        return try rows.prefix(limit).compactMap { try $0.fact(in: database) }
    }

    /// The gaps of a device, sent or not, the newest first. Those of a replay's age are there.
    static func gaps(of device: DeviceID, limit: Int, in database: Database) throws -> [Gap] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT body FROM message
                WHERE lane = ?1 AND kind = ?2 AND device = (SELECT id FROM device WHERE name = ?3)
                ORDER BY sequence DESC LIMIT ?4
                """)
        let rows = try Row.fetchAll(
            statement, arguments: [Lane.alert.rawValue, Kind.gap.rawValue, device.text, limit])
        return try rows.map { try Gap(json: .kept($0.bytes(at: 0))) }
    }

    /// The numbers of waiting and dropped items. The caller sets `bytes`.
    /// - Parameter summary: the last commit; without one the journal is empty.
    static func statistics(_ summary: CommitSummary?, in database: Database) throws -> StoreStatistics {
        var statistics = StoreStatistics()
        let lanes = try summary?.lanes ?? Counters.current(in: database).lanes
        for lane in Lane.allCases {
            let cached = lanes[lane.rawValue]
            statistics.pending[lane] = Int(cached.messages)
            let statement = try database.cachedStatement(
                sql: lane == .answer
                    ? "SELECT answered_at FROM command WHERE ?1 = 1 AND answer > ?2 ORDER BY answer LIMIT 1"
                    : "SELECT made_at FROM message WHERE lane = ?1 AND sequence > ?2 ORDER BY sequence LIMIT 1")
            let oldest = try Int64.fetchOne(statement, arguments: [lane.rawValue, cached.acknowledged])
            // What is in the journal comes after what is in the table.
            if let oldest = Timestamp(kept: oldest) ?? summary?.oldestJournaled[lane.rawValue] {
                statistics.oldestPendingAt = min(statistics.oldestPendingAt ?? oldest, oldest)
            }
        }
        for row in try Row.fetchAll(database.cachedStatement(sql: "SELECT class, count FROM dropped")) {
            statistics.dropped[row[0]] = row[1]
        }
        statistics.quarantined = try QuarantineTable.count(in: database)
        return statistics
    }
}
