package import Vitals

/// A table of which each row gives at most one sample of a metric.
package struct RowFeed: Feed {
    package let metric: Metric
    package var tables: [String] { [table] }
    private let table: String
    private let rank: Rank
    /// The unit of the time of a row.
    private let unit: TimeUnit
    private let sql: String
    /// How long before its time a row's sample begins.
    private let lead: Duration
    /// The sample of a row.
    private let read: @Sendable (Row) -> RowResult

    /// Rows of a statement.
    /// - Parameters:
    ///   - sql: selects the time of each row first, and then the columns that `read` sees by their places; those of the device
    ///     `?1` from the time `?2` until before `?3`, ascending by time.
    ///   - lead: how long before its time a row's sample begins.
    package init(
        metric: Metric, table: String, rank: Rank, unit: TimeUnit, sql: String, lead: Duration = .zero,
        read: @escaping @Sendable (Row) -> RowResult
    ) {
        self.metric = metric
        self.table = table
        self.rank = rank
        self.unit = unit
        self.sql = sql
        self.lead = lead
        self.read = read
    }

    package func stream(_ reading: ExportRange) throws(ExportError) -> any SampleStream {
        let statement = try reading.database.statement(sql)
        statement.bind(
            reading.device, unit.number(notBefore: reading.from + lead), unit.number(notBefore: reading.to + lead))
        return RowStream(statement, rank: rank, unit: unit, reading, table: table, read)
    }
}

/// The samples of a statement, one row after the other.
private final class RowStream: SampleStream {
    private let statement: ExportStatement
    private let rank: Rank
    private let unit: TimeUnit
    private let skippedRows: SkippedRows
    private let takesBack: Bool
    private let table: String
    private let read: @Sendable (Row) -> RowResult

    init(
        _ statement: ExportStatement, rank: Rank, unit: TimeUnit, _ reading: ExportRange, table: String,
        _ read: @escaping @Sendable (Row) -> RowResult
    ) {
        self.statement = statement
        self.rank = rank
        self.unit = unit
        skippedRows = reading.skippedRows
        takesBack = reading.takesBack
        self.table = table
        self.read = read
    }

    func next() throws(ExportError) -> Candidate? {
        while try statement.step() {
            switch read(Row(statement, unit: unit)) {
            case .sample(let sample): return Candidate(sample: sample, rank: rank)
            case .skipped(let reason): skippedRows.add(reason, in: table)
            case .nothing(let sample, let reason):
                if let reason { skippedRows.add(reason, in: table) }
                if takesBack, sample.isValid { return Candidate(sample: sample, rank: rank) }
            case .irrelevant: break
            }
        }
        return nil
    }
}

/// One row of a table, with the columns that a feed asked for.
package struct Row {
    /// The row's TIMESTAMP.
    package let moment: Timestamp
    private let statement: ExportStatement
    private let unit: TimeUnit

    package init(_ statement: ExportStatement, unit: TimeUnit) {
        self.statement = statement
        self.unit = unit
        moment = unit.moment(statement.int64(0))
    }

    /// Whether the column at this place, from 0, has nothing.
    package func isNull(_ column: Int) -> Bool { statement.isNull(column + 1) }
    /// The column at this place, from 0, as a number; `nil` for anything else.
    package func number(_ column: Int) -> Double? { statement.number(column + 1) }
    /// The column at this place as a whole number; `nil` for anything else.
    package func integer(_ column: Int) -> Int64? { statement.integer(column + 1) }
    /// Why the column at this place is not the number that it should be: nothing was measured, or something else stands there.
    package func absence(_ column: Int) -> SkippedRows.Reason { isNull(column) ? .notMeasured : .unreadable }
    /// The column at this place as bytes; `nil` for anything else.
    package func bytes(_ column: Int) -> [UInt8]? { statement.bytes(column + 1) }
}

/// The result of a row.
package enum RowResult {
    case sample(Sample)
    case skipped(SkippedRows.Reason)
    /// The row has no value, such as a minute without steps: this corrects what an earlier export had in its place (`Sample.Claim`).
    /// It may be counted as skipped, too.
    case nothing(Sample, SkippedRows.Reason? = nil)
    /// The row says nothing, and never did.
    case irrelevant
}

extension RowResult {
    /// Of a row that has nothing measured where there may have been a value of a moment.
    package static func notMeasured(
        _ metric: Metric, at moment: Timestamp, isUserInitiated: Bool = false, user: Int? = nil,
        qualifiers: [Qualifier: String] = [:]
    ) -> RowResult {
        var sample = Sample.nothing(
            of: metric, from: moment, to: moment, isUserInitiated: isUserInitiated, qualifiers: qualifiers)
        sample.user = user
        return .nothing(sample, .notMeasured)
    }
}

extension Sample {
    /// What corrects a count to 0, or withdraws a value, that an earlier export had. Of a value its reading says nothing.
    package static func nothing(
        of metric: Metric, from start: Timestamp, to end: Timestamp, isUserInitiated: Bool = false,
        qualifiers: [Qualifier: String] = [:]
    ) -> Sample {
        let least = metric.range?.lowerBound ?? 0
        let reading: Reading =
            switch metric.shape {
            case .count: .count(Increment(count: 0))
            case .pressure: .bloodPressure(BloodPressure(systolic: least, diastolic: least))
            case .value, .sleep, .session: .value(least)
            }
        var sample = Sample(
            metric: metric, start: start, end: end, isUserInitiated: isUserInitiated, qualifiers: qualifiers,
            reading: reading)
        sample.claim = .correction
        return sample
    }
}

/// The unit of a table's TIMESTAMP.
package enum TimeUnit: Int64, Sendable, Hashable {
    case milliseconds = 1
    case seconds = 1000

    /// Milliseconds of any day after March 1973 are above it, and seconds of any before the year 5138 below.
    package static let boundary: Int64 = 100_000_000_000

    /// The unit of a number that is a time.
    package init(of number: Int64) { self = number >= Self.boundary ? .milliseconds : .seconds }

    /// The numbers that are a time of a wearable, from 2000 until before 2100. No number is one in both units, and no clock is asked.
    package var usable: Range<Int64> { 946_684_800_000 / rawValue..<4_102_444_800_000 / rawValue }

    package func moment(_ number: Int64) -> Timestamp {
        Timestamp(milliseconds: self == .seconds ? number.multipliedReportingOverflow(by: 1000).0 : number)
    }

    /// The first number whose moment is not before this one.
    package func number(notBefore moment: Timestamp) -> Int64 {
        let (quotient, remainder) = moment.milliseconds.quotientAndRemainder(dividingBy: rawValue)
        return remainder > 0 ? quotient + 1 : quotient
    }
}
