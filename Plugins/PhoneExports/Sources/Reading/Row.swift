package import Vitals

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
    /// The row says nothing, such as a minute without steps.
    case nothing
}
