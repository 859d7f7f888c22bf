import Engines
import GRDB
import Vitals

/// What the writer knows of the file without asking it. It always equals what is on disk: after a transaction that failed
/// it is read anew.
struct Books: Sendable {
    /// The last number of a fact.
    var lastSequence: Int64
    /// The last number of an answer.
    var lastAnswer: Int64
    /// Bytes of the answers that are remembered.
    var answerBytes: Int64
    /// One per lane, by its raw value.
    var lanes: [LaneBook]
    /// The devices that were written to since the store was opened.
    var devices: [DeviceID: DeviceBook] = [:]

    init(_ database: Database) throws {
        guard let row = try Row.fetchOne(database, sql: "SELECT last_sequence, last_answer, answer_bytes FROM store")
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the table store is empty") }
        lastSequence = row[0]
        lastAnswer = row[1]
        answerBytes = row[2]
        lanes = try Row.fetchAll(database, sql: "SELECT acknowledged, messages, samples FROM lane ORDER BY lane").map {
            LaneBook(acknowledged: $0[0], messages: $0[1], samples: $0[2])
        }
        guard lanes.count == Lane.allCases.count else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the table lane is not complete")
        }
    }
}

/// How far a lane is.
struct LaneBook: Sendable, Hashable {
    /// Up to where the broker has everything.
    var acknowledged: Int64
    /// How many messages wait after that.
    var messages: Int64
    /// How many samples they refer to.
    var samples: Int64
    /// Whether the file does not have it yet.
    var isChanged = false
}

/// The rows of a device and of its series.
struct DeviceBook: Sendable {
    let row: Int64
    /// By `Metric.place`; `nil` for a metric without any row.
    var series: [SeriesBook?]
}

/// A series' row.
struct SeriesBook: Sendable {
    let row: Int64
    var highWater: Int64?
    var cursor: Int64?
    /// The key of the newest sample by its end.
    var latest: SampleKey?
    var isChanged = false
}

extension Metric {
    /// A dense number for tables in memory. It is not kept anywhere.
    var place: Int {
        switch self {
        case .heartRate: 0
        case .restingHeartRate: 1
        case .bloodPressure: 2
        case .bloodOxygen: 3
        case .stress: 4
        case .temperature: 5
        case .steps: 6
        case .sleep: 7
        case .sport: 8
        case .battery: 9
        }
    }
}
