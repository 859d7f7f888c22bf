import Foundation
import GRDB
import JSON
import Vitals

/// Reads commands and their answers.
enum CommandTable {
    /// The size of an answer in its row, as `StoredAnswer.size` counts it.
    static let answerSize = "length(payload) + length(CAST(topic AS BLOB)) + ifnull(length(correlation), 0)"

    /// Commands that were begun and never answered, oldest first.
    static func unanswered(after: Int64, limit: Int, in database: Database) throws -> [UnansweredCommand] {
        let sql = """
            SELECT number, key, envelope FROM command
            WHERE number > ?1 AND answer IS NULL AND envelope IS NOT NULL ORDER BY number LIMIT ?2
            """
        return try Row.fetchAll(database.cachedStatement(sql: sql), arguments: [after, limit]).map { row in
            UnansweredCommand(
                number: row[0], key: row[1], envelope: try CommandEnvelope(json: .kept(row[2] as String)))
        }
    }

    /// The bytes of all answers.
    static func answerBytes(in database: Database) throws -> Int64 {
        let sql = "SELECT ifnull(sum(\(answerSize)), 0) FROM command WHERE answer IS NOT NULL"
        return try Int64.fetchOne(database, sql: sql) ?? 0
    }

    /// Answers that wait for the broker.
    static func pending(
        after: Int64, limit: Int, in database: Database
    ) throws -> [OutboxEntry] {
        let sql = """
            SELECT answer, key, topic, correlation, payload, answered_at FROM command
            WHERE answer > ?1 ORDER BY answer LIMIT ?2
            """
        let rows = try Row.fetchAll(database.cachedStatement(sql: sql), arguments: [after, limit])
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
