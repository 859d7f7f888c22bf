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
            SELECT number, key, envelope, content FROM command
            WHERE number > ?1 AND answer IS NULL AND envelope IS NOT NULL ORDER BY number LIMIT ?2
            """
        return try Row.fetchAll(database.cachedStatement(sql: sql), arguments: [after, limit]).map { row in
            var envelope = try CommandEnvelope(json: .kept(row[2] as String))
            envelope.content = content(row[3] as String?)
            return UnansweredCommand(number: row[0], key: row[1], envelope: envelope)
        }
    }

    private static func content(_ text: String?) -> SampleID? { text.flatMap { SampleID($0) } }

    /// The keys and sizes of the answers with these numbers.
    static func sizes(after: Int64, through: Int64, in database: Database) throws -> [(key: String, size: Int)] {
        let sql = "SELECT key, \(answerSize) FROM command WHERE answer > ?1 AND answer <= ?2"
        return try Row.fetchAll(database.cachedStatement(sql: sql), arguments: [after, through]).map {
            (key: $0[0], size: $0[1])
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
            SELECT answer, key, topic, correlation, payload, answered_at, content FROM command
            WHERE answer > ?1 ORDER BY answer LIMIT ?2
            """
        let rows = try Row.fetchAll(database.cachedStatement(sql: sql), arguments: [after, limit])
        return rows.map { row in
            let answer = StoredAnswer(
                key: row[1], content: content(row[6] as String?), topic: row[2], correlation: row.bytes(at: 3),
                payload: row.bytes(at: 4) ?? [], at: Timestamp(milliseconds: row[5]))
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
