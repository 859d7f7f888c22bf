import Foundation
import GRDB
import JSON
import StoreAPI
import Vitals

/// Reads commands and their answers.
enum CommandTable {
    /// Commands that were begun and never answered, oldest first.
    static func unanswered(in database: Database) throws -> [(key: String, envelope: CommandEnvelope)] {
        let sql = "SELECT key, envelope FROM command WHERE answer IS NULL AND envelope IS NOT NULL ORDER BY number"
        return try Row.fetchAll(database, sql: sql).map { row in
            (row[0], try CommandEnvelope(json: .kept(row[1] as String)))
        }
    }

    /// Answers that wait for the broker.
    static func pending(
        after: Int64, limit: Int, in database: Database
    ) throws -> [OutboxEntry] {
        let sql = """
            SELECT answer, key, topic, correlation, payload, answered_at FROM command
            WHERE answer > ?1 ORDER BY answer LIMIT ?2
            """
        let rows = try Row.fetchAll(database, sql: sql, arguments: [after, limit])
        return rows.map { row in
            let answer = StoredAnswer(
                key: row[1], topic: row[2], correlation: row.bytes(at: 3), payload: row.bytes(at: 4) ?? [],
                at: Timestamp(milliseconds: row[5]))
            return .answer(number: row[0], answer)
        }
    }
}

extension Row {
    /// A column's bytes, `nil` where it is empty. An empty blob is no bytes, not `nil`.
    func bytes(at index: Int) -> [UInt8]? {
        (self[index] as Data?).map { [UInt8]($0) }
    }
}
