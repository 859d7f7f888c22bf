/// Rows of an export that give no sample, counted by table and reason. A row that is not understood is skipped, never guessed.
package final class SkippedRows {
    /// Why a row gives no sample.
    package enum Reason: String, CaseIterable, Error, Hashable {
        /// The app's own mark for "not measured", such as a heart rate of 255, or nothing in the column.
        case notMeasured = "not_measured"
        /// A value that no living person has.
        case implausible
        /// A code whose meaning is unknown.
        case unknownCode = "unknown_code"
        /// A measurement of the air, and not of a person.
        case ambient
        /// Nothing says what was measured.
        case unspecified
        /// A value of another type, or a record that is too short.
        case unreadable
        /// The totals of a night do not agree with its stages.
        case checkSum = "check_sum"
        /// A night without its end, or a sleep without stages.
        case incomplete
        /// A night of more than a day, or a text of more than its limit.
        case tooLong = "too_long"
        /// More rows of one minute, or sleeps or workouts of one day, than any wearable makes.
        case tooMany = "too_many"
        /// A running count that fell, as after a journey to another time zone.
        case countFell = "count_fell"
        /// No time, one of another type, or one that no wearable has measured at.
        case withoutTime = "without_time"
        /// Of an app that the export does not name.
        case withoutApp = "without_app"
    }

    package private(set) var counts: [String: [Reason: Int]] = [:]
    /// The limits that rows of a table were beyond.
    package private(set) var limits: [String: Int] = [:]

    package init() {}

    /// - Parameter limit: what they are beyond, for `tooMany`.
    package func add(_ reason: Reason, in table: String, count: Int = 1, limit: Int? = nil) {
        counts[table, default: [:]][reason, default: 0] += count
        if let limit { limits[table] = limit }
    }
}

extension SkippedRows.Reason {
    /// Whether a value of the person is missing then: the row has one, and no other row has the same.
    package var losesValue: Bool { ![.notMeasured, .ambient, .unspecified].contains(self) }
}
