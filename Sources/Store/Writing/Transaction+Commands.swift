import Foundation
import GRDB
import JSON
import Vitals

extension Transaction {
    /// Begins a command, or returns the state of the same command received earlier.
    func begin(
        _ envelope: CommandEnvelope, key: String, at moment: Timestamp, options: StoreOptions
    ) throws -> CommandBeginning {
        let statement = try database.cachedStatement(
            sql: "SELECT number, answered_at, payload, content FROM command WHERE key = ?")
        if let row = try Row.fetchOne(statement, arguments: [key]) {
            let isSame = row[3] as String? == envelope.content?.description
            guard let answeredAt = row[1] as Int64? else { return isSame ? .running : .reused }
            // An answer this far in the future was written while the clock was ahead.
            let age = moment - Timestamp(milliseconds: answeredAt)
            if age < options.answerAge, .zero - age < options.answerAge {
                return isSame ? .answered(row.bytes(at: 2) ?? []) : .reused
            }
            try dropAnswers("number = ?1", [row[0] as Int64])
        }
        guard try hasRoomForAnswer(to: key, options) else { return .full }
        try execute(
            "INSERT INTO command(key, content, begun_at, envelope) VALUES (?, ?, ?, ?)",
            [key, envelope.content?.description, moment.milliseconds, envelope.json.text])
        return .new
    }

    /// Stores a command's final answer. A second answer changes nothing: each command gets exactly one.
    /// - Returns: whether there was room. For the answer of a command that was begun there always is.
    func complete(_ answer: StoredAnswer, options: StoreOptions) throws -> Bool {
        if try !isKnown(answer.key), try !hasRoomForAnswer(to: answer.key, options) { return false }
        try execute(
            "INSERT INTO command(key, content, begun_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [answer.key, answer.content?.description, answer.at.milliseconds])
        let isAnswered = try database.cachedStatement(
            sql: "SELECT 1 FROM command WHERE key = ? AND answered_at IS NOT NULL")
        if try Int.fetchOne(isAnswered, arguments: [answer.key]) != nil { return true }
        guard !answer.topic.isEmpty else {
            try store(unsent: answer, options)
            return true
        }
        let number = nextAnswer()
        try execute(
            """
            UPDATE command SET envelope = NULL, answer = ?, answered_at = ?, topic = ?, correlation = ?, payload = ?
            WHERE key = ?
            """,
            [
                number, answer.at.milliseconds, answer.topic, answer.correlation.map { Data($0) },
                Data(answer.payload), answer.key,
            ])
        countAnswer(bytes: Int64(answer.size))
        cache.waitingAnswers.add(answer.size, of: answer.key)
        add(.answer(number: number, answer))
        try bound(options)
        return true
    }

    /// Stores the answer to a caller of this process, who has it: it takes no number, and no room of those that wait for the broker.
    private func store(unsent answer: StoredAnswer, _ options: StoreOptions) throws {
        try execute(
            "UPDATE command SET envelope = NULL, answered_at = ?, topic = '', payload = ? WHERE key = ?",
            [answer.at.milliseconds, Data(answer.payload), answer.key])
        try execute(
            """
            DELETE FROM command WHERE number IN (
                SELECT number FROM (
                    SELECT number, count(*) OVER newer AS count, sum(length(payload)) OVER newer AS bytes FROM command
                    WHERE answer IS NULL AND answered_at IS NOT NULL
                    WINDOW newer AS (ORDER BY number DESC))
                WHERE count > ? OR bytes > ?)
            """, [options.maximumUnsentAnswers, options.maximumUnsentAnswerBytes])
    }

    private func isKnown(_ key: String) throws -> Bool {
        let statement = try database.cachedStatement(sql: "SELECT 1 FROM command WHERE key = ?")
        return try Int.fetchOne(statement, arguments: [key]) != nil
    }

    /// Whether the answer of one more command may wait for the broker: no device takes the room of the others.
    private func hasRoomForAnswer(to key: String, _ options: StoreOptions) throws -> Bool {
        try bound(options)
        return cache.counters.lanes[Lane.answer.rawValue].messages < Int64(options.maximumAnswers)
            && cache.counters.answerBytes <= options.maximumAnswerBytes
            && cache.waitingAnswers.haveRoom(for: key, options)
    }

    /// Deletes the oldest answers over the limits of count and bytes that the broker has. One that it does not have yet
    /// stays: its command has run, and its sender waits.
    private func bound(_ options: StoreOptions) throws {
        let sent = cache.counters.lanes[Lane.answer.rawValue].acknowledged
        // Numbers have few gaps, so their span is the count. An overestimate deletes a little early.
        let surplus = cache.counters.lastAnswer - Int64(options.maximumAnswers)
        if surplus > 0 { try dropAnswers("answer <= ?1", [min(surplus, sent)]) }
        while cache.counters.answerBytes > options.maximumAnswerBytes {
            let before = cache.counters.answerBytes
            try dropAnswers("answer = (SELECT min(answer) FROM command WHERE answer <= ?1)", [sent])
            if cache.counters.answerBytes == before { break }
        }
    }

    /// Deletes answers. Those that never reached the broker are counted as dropped.
    @discardableResult
    func dropAnswers(_ condition: String, _ arguments: StatementArguments) throws -> Int {
        let statement = try database.cachedStatement(
            sql: """
                DELETE FROM command WHERE answered_at IS NOT NULL AND \(condition)
                RETURNING answer, \(CommandTable.answerSize), key
                """)
        let rows = try Row.fetchAll(statement, arguments: arguments)
        var unsent = 0
        for row in rows {
            // One without a number went to a caller of this process, and is not counted.
            guard let number = row[0] as Int64? else { continue }
            countAnswer(bytes: -(row[1] as Int64))
            guard number > cache.counters.lanes[Lane.answer.rawValue].acknowledged else { continue }
            unsent += 1
            cache.waitingAnswers.remove(row[1], of: row[2])
        }
        if unsent > 0 {
            count(-Int64(unsent), samples: 0, in: .answer)
            try countDropped(unsent, Lane.answer.name)
        }
        return rows.count
    }

    /// Counts items that were dropped before they were sent.
    func countDropped(_ count: Int, _ kind: String) throws {
        try execute(
            """
            INSERT INTO dropped(class, count) VALUES (?, ?)
            ON CONFLICT(class) DO UPDATE SET count = count + excluded.count
            """, [kind, count])
    }
}

/// The answers that wait for the broker, and their bytes, by whom they concern.
struct WaitingAnswers: Sendable {
    private var count = FairShares()
    private var bytes = FairShares()

    func haveRoom(for key: String, _ options: StoreOptions) -> Bool {
        let scope = CommandEnvelope.scope(inKey: key)
        return count.fits(1, of: scope, in: options.maximumAnswers)
            && bytes.fits(0, of: scope, in: Int(clamping: options.maximumAnswerBytes))
    }

    mutating func add(_ size: Int, of key: String) {
        let scope = CommandEnvelope.scope(inKey: key)
        count.add(1, of: scope)
        bytes.add(size, of: scope)
    }

    mutating func remove(_ size: Int, of key: String) {
        let scope = CommandEnvelope.scope(inKey: key)
        count.remove(1, of: scope)
        bytes.remove(size, of: scope)
    }
}
