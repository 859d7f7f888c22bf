import GRDBSQLite

/// A statement that reads an export. Every value may be of any type, also of another one than its column's.
package final class ExportStatement {
    private let handle: OpaquePointer

    init(_ sql: String, in database: OpaquePointer) throws(ExportError) {
        var prepared: OpaquePointer?
        guard sqlite3_prepare_v2(database, sql, -1, &prepared, nil) == SQLITE_OK, let prepared else {
            throw Self.error(of: database)
        }
        handle = prepared
    }

    deinit { sqlite3_finalize(handle) }

    /// Binds numbers to the first places, and text to the next one.
    package func bind(_ numbers: Int64..., text: String? = nil) {
        for (index, number) in numbers.enumerated() { sqlite3_bind_int64(handle, Int32(index + 1), number) }
        guard let text else { return }
        // SQLITE_TRANSIENT, a macro that Swift does not import: SQLite makes its own copy.
        let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        sqlite3_bind_text(handle, Int32(numbers.count + 1), text, -1, copies)
    }

    /// Steps to the next row; `false` at the end.
    /// - Throws: `tooLarge` if a value of the row is longer than `ExportDatabase.longestValue`; the statement begins anew then.
    package func step() throws(ExportError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            sqlite3_reset(handle)
            return false
        default:
            let error = Self.error(of: sqlite3_db_handle(handle))
            sqlite3_reset(handle)
            throw error
        }
    }

    /// Makes the statement ready to be bound again.
    package func reset() { sqlite3_reset(handle) }

    package func int64(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }

    /// Whether there is nothing.
    package func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }

    /// A whole number or a real one; `nil` for anything else.
    package func number(_ column: Int) -> Double? {
        switch sqlite3_column_type(handle, Int32(column)) {
        case SQLITE_INTEGER, SQLITE_FLOAT: sqlite3_column_double(handle, Int32(column))
        default: nil
        }
    }

    /// A whole number; `nil` for anything else.
    package func integer(_ column: Int) -> Int64? {
        sqlite3_column_type(handle, Int32(column)) == SQLITE_INTEGER ? int64(column) : nil
    }

    /// A text; `nil` for anything else.
    package func text(_ column: Int) -> String? {
        guard sqlite3_column_type(handle, Int32(column)) == SQLITE_TEXT else { return nil }
        return bytes(column).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Bytes, or the bytes of a text; `nil` for anything else.
    package func bytes(_ column: Int) -> [UInt8]? {
        let type = sqlite3_column_type(handle, Int32(column))
        guard type == SQLITE_BLOB || type == SQLITE_TEXT else { return nil }
        guard let start = sqlite3_column_blob(handle, Int32(column)) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, Int32(column)))))
    }

    private static func error(of database: OpaquePointer?) -> ExportError {
        if sqlite3_errcode(database) & 0xff == SQLITE_INTERRUPT {
            return ExportError(.unavailable, "The reading was cancelled.")
        }
        // Whole rows are put in an order on the disk of temporary files, and the machine may have no room for it.
        if [SQLITE_FULL, SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_NOMEM].contains(sqlite3_errcode(database) & 0xff) {
            return ExportError(
                .unavailable,
                "An export cannot be read on this machine: \(String(cString: sqlite3_errmsg(database))). Set TMPDIR to a folder with room."
            )
        }
        if sqlite3_errcode(database) & 0xff == SQLITE_TOOBIG {
            return ExportError(
                .tooLarge, "A value of the export has more than \(ExportDatabase.longestValue >> 20) MiB.")
        }
        return ExportError(.torn, "The export cannot be read: \(String(cString: sqlite3_errmsg(database))).")
    }
}
