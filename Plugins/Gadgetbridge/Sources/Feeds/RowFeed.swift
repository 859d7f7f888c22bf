import Exports
import Vitals

/// A table of which each row gives at most one sample of a metric.
struct RowFeed: Feed {
    let metric: Metric
    let table: String
    let rank: Rank
    /// The unit of TIMESTAMP.
    let unit: TimeUnit
    /// The columns that `read` sees, by their places.
    let columns: [String]
    /// How long before its TIMESTAMP a row's sample begins.
    var lead: Duration = .zero
    /// A further condition on the rows in SQL, such as a code of the kind of value.
    var condition: String?
    /// The sample of a row.
    let read: @Sendable (Row) -> RowResult

    func stream(_ reading: Reading) throws(ExportError) -> any SampleStream {
        let statement = try reading.database.statement(
            RowStream.select(columns, table: table, condition: condition))
        statement.bind(
            reading.device, unit.number(notBefore: reading.from + lead), unit.number(notBefore: reading.to + lead))
        return RowStream(statement, self, reading.leftovers)
    }
}

/// The samples of a table, one row after the other.
final class RowStream: SampleStream {
    private let statement: ExportStatement
    private let feed: RowFeed
    private let leftovers: Leftovers

    init(_ statement: ExportStatement, _ feed: RowFeed, _ leftovers: Leftovers) {
        self.statement = statement
        self.feed = feed
        self.leftovers = leftovers
    }

    func next() throws(ExportError) -> Candidate? {
        while try statement.step() {
            switch feed.read(Row(statement, unit: feed.unit)) {
            case .sample(let sample): return Candidate(sample: sample, rank: feed.rank)
            case .left(let reason): leftovers.add(reason, in: feed.table)
            case .nothing: break
            }
        }
        return nil
    }

    /// Reads columns of one wearable's rows, from the second bound number until before the third, ascending by time.
    static func select(_ columns: [String], table: String, condition: String? = nil) -> String {
        let all = (["TIMESTAMP"] + columns).map { ExportDatabase.quoted($0) }.joined(separator: ", ")
        return """
            SELECT \(all) FROM \(ExportDatabase.quoted(table))
            WHERE DEVICE_ID = ?1 AND TIMESTAMP >= ?2 AND TIMESTAMP < ?3 \(condition.map { "AND \($0)" } ?? "")
            ORDER BY TIMESTAMP
            """
    }
}
