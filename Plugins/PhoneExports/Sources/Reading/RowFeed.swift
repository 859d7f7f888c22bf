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
        self.table = table
        self.read = read
    }

    func next() throws(ExportError) -> Candidate? {
        while try statement.step() {
            switch read(Row(statement, unit: unit)) {
            case .sample(let sample): return Candidate(sample: sample, rank: rank)
            case .skipped(let reason): skippedRows.add(reason, in: table)
            case .nothing: break
            }
        }
        return nil
    }
}
