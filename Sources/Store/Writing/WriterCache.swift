import GRDB
import StoreAPI
import Vitals

/// The writer's copy of values in the file. It always equals the file: after a failed transaction it is read again.
struct WriterCache: Sendable {
    /// The last number of a fact.
    var lastSequence: Int64
    /// The last number of an answer.
    var lastAnswer: Int64
    /// The size in bytes of the stored answers.
    var answerBytes: Int64
    /// The lanes, indexed by raw value.
    var lanes: [CachedLane]
    /// The devices written to since the store was opened.
    var devices: [DeviceID: CachedDevice] = [:]

    init(_ database: Database) throws {
        guard let row = try Row.fetchOne(database, sql: "SELECT last_sequence, last_answer, answer_bytes FROM store")
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the table store is empty") }
        lastSequence = row[0]
        lastAnswer = row[1]
        answerBytes = row[2]
        lanes = try Row.fetchAll(database, sql: "SELECT acknowledged, messages, samples FROM lane ORDER BY lane").map {
            CachedLane(acknowledged: $0[0], messages: $0[1], samples: $0[2])
        }
        guard lanes.count == Lane.allCases.count else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the table lane is not complete")
        }
    }
}

/// The progress of a lane.
struct CachedLane: Sendable, Hashable {
    /// The last number that the broker acknowledged.
    var acknowledged: Int64
    /// The number of messages that wait after it.
    var messages: Int64
    /// The number of samples that these messages refer to.
    var samples: Int64
    /// Whether the change is not in the file yet.
    var isChanged = false
}

/// The rows of a device and of its series.
struct CachedDevice: Sendable {
    let row: Int64
    /// Indexed by `Metric.index`; `nil` for a metric without a row.
    var series: [CachedSeries?]
}

/// A series' row.
struct CachedSeries: Sendable {
    let row: Int64
    var highWater: Int64?
    var cursor: Int64?
    /// The key of the newest sample by its end.
    var latest: SampleKey?
    var isChanged = false
}
