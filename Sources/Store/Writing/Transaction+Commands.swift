import Engines
import Foundation
import GRDB
import JSON
import Vitals

extension Transaction {
    /// Begins a command, or says what became of the same one.
    func begin(
        _ envelope: CommandEnvelope, key: String, at moment: Timestamp, options: StoreOptions
    ) throws -> CommandBeginning {
        let statement = try database.cachedStatement(
            sql: "SELECT number, answered_at, payload FROM command WHERE key = ?")
        if let row = try Row.fetchOne(statement, arguments: [key]) {
            guard let answeredAt = row[1] as Int64? else { return .running }
            // An answer that lies as far in the future was given by a clock that was ahead.
            let age = moment - Timestamp(milliseconds: answeredAt)
            if age < options.answerAge, .zero - age < options.answerAge {
                return .answered(row.bytes(at: 2) ?? [])
            }
            try dropAnswers("number = ?1", [row[0] as Int64])
        }
        try execute(
            "INSERT INTO command(key, begun_at, envelope) VALUES (?, ?, ?)",
            [key, moment.milliseconds, envelope.json.text])
        return .new
    }

    /// Keeps a command's final answer. A second one for the same command changes nothing: each gets exactly one.
    func finish(_ answer: StoredAnswer, options: StoreOptions) throws {
        try execute(
            "INSERT INTO command(key, begun_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
            [answer.key, answer.at.milliseconds])
        let isAnswered = try database.cachedStatement(
            sql: "SELECT 1 FROM command WHERE key = ? AND answer IS NOT NULL")
        if try Int.fetchOne(isAnswered, arguments: [answer.key]) != nil { return }
        try execute(
            """
            UPDATE command SET envelope = NULL, answer = ?, answered_at = ?, topic = ?, correlation = ?, payload = ?
            WHERE key = ?
            """,
            [
                nextAnswer(), answer.at.milliseconds, answer.topic, answer.correlation.map { Data($0) },
                Data(answer.payload), answer.key,
            ])
        countAnswer(bytes: Int64(answer.payload.count))
        try bound(options)
    }

    /// Forgets the oldest answers beyond the limits of count and bytes.
    private func bound(_ options: StoreOptions) throws {
        // Numbers have few holes, so their span is the count. It overestimates, which forgets a little early.
        try dropAnswers("answer <= ?1", [books.lastAnswer - Int64(options.maximumAnswers)])
        while books.answerBytes > options.maximumAnswerBytes {
            let before = books.answerBytes
            try dropAnswers("answer = (SELECT min(answer) FROM command)", [])
            if books.answerBytes == before { break }
        }
    }

    /// Forgets answers. Those that never reached the broker are counted as dropped.
    @discardableResult
    func dropAnswers(_ condition: String, _ arguments: StatementArguments) throws -> Int {
        let statement = try database.cachedStatement(
            sql: "DELETE FROM command WHERE answer IS NOT NULL AND \(condition) RETURNING answer, length(payload)")
        let rows = try Row.fetchAll(statement, arguments: arguments)
        let unsent = rows.count { $0[0] as Int64 > books.lanes[Lane.answer.rawValue].acknowledged }
        for row in rows { countAnswer(bytes: -(row[1] as Int64)) }
        if unsent > 0 {
            count(-Int64(unsent), samples: 0, in: .answer)
            try countDropped(unsent, Lane.answer.name)
        }
        return rows.count
    }

    /// Counts what was dropped unsent.
    func countDropped(_ count: Int, _ kind: String) throws {
        try execute(
            """
            INSERT INTO dropped(class, count) VALUES (?, ?)
            ON CONFLICT(class) DO UPDATE SET count = count + excluded.count
            """, [kind, count])
    }
}
