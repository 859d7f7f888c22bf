import GRDB
import JSON
import Vitals

/// The numbers that change with nearly every commit. They are part of each record of the journal; the tables `store` and
/// `lane` have them while the journal is empty.
struct Counters: Sendable, Hashable {
    /// The last number of a fact.
    var lastSequence: Int64 = 0
    /// The last number of an answer.
    var lastAnswer: Int64 = 0
    /// The size in bytes of the stored answers.
    var answerBytes: Int64 = 0
    /// The lanes, indexed by raw value.
    var lanes = [CachedLane](repeating: CachedLane(), count: Lane.allCases.count)
}

/// The progress of a lane.
struct CachedLane: Sendable, Hashable {
    /// The last number that the broker acknowledged.
    var acknowledged: Int64 = 0
    /// The number of messages that wait after it.
    var messages: Int64 = 0
    /// The number of samples that these messages refer to.
    var samples: Int64 = 0
}

extension Counters {
    /// The counters in the file: those of the journal's last record, or of the tables.
    static func current(in database: Database) throws -> Counters {
        let sql = "SELECT record FROM journal ORDER BY number DESC LIMIT 1"
        if let row = try Row.fetchOne(database.cachedStatement(sql: sql)) {
            return try JournalRecord(packed: row.bytes(at: 0) ?? []).counters
        }
        return try tables(in: database)
    }

    /// The counters of the tables, which are current while the journal is empty.
    static func tables(in database: Database) throws -> Counters {
        let numbers = "SELECT last_sequence, last_answer, answer_bytes FROM store"
        guard let row = try Row.fetchOne(database.cachedStatement(sql: numbers)) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the table store is empty")
        }
        var counters = Counters()
        counters.lastSequence = row[0]
        counters.lastAnswer = row[1]
        counters.answerBytes = row[2]
        counters.lanes = try Row.fetchAll(
            database.cachedStatement(sql: "SELECT acknowledged, messages, samples FROM lane ORDER BY lane")
        ).map { CachedLane(acknowledged: $0[0], messages: $0[1], samples: $0[2]) }
        guard counters.lanes.count == Lane.allCases.count else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the table lane is not complete")
        }
        return counters
    }

    /// Writes the counters to their tables.
    func save(in database: Database) throws {
        try database.cachedStatement(
            sql: "UPDATE store SET last_sequence = ?, last_answer = ?, answer_bytes = ?"
        ).execute(arguments: [lastSequence, lastAnswer, answerBytes])
        let update = try database.cachedStatement(
            sql: "UPDATE lane SET acknowledged = ?, messages = ?, samples = ? WHERE lane = ?")
        for (lane, cached) in lanes.enumerated() {
            try update.execute(arguments: [cached.acknowledged, cached.messages, cached.samples, lane])
        }
    }

    func pack(into writer: inout PackedWriter) {
        for number in [lastSequence, lastAnswer, answerBytes] { writer.append(signed: number) }
        for lane in lanes {
            for number in [lane.acknowledged, lane.messages, lane.samples] { writer.append(signed: number) }
        }
    }

    init(_ reader: inout PackedReader) throws {
        lastSequence = try reader.signed()
        lastAnswer = try reader.signed()
        answerBytes = try reader.signed()
        for lane in lanes.indices {
            lanes[lane].acknowledged = try reader.signed()
            lanes[lane].messages = try reader.signed()
            lanes[lane].samples = try reader.signed()
        }
    }
}
