import GRDB
import GRDBSQLite

/// A prepared statement that is bound and stepped directly, for work per sample: GRDB's dynamic values would double
/// SQLite's own cost. GRDB still prepares, caches and finalises it.
///
/// Use it only within the database access that created it.
struct RawStatement {
    private let statement: Statement
    private let handle: OpaquePointer

    init(_ sql: String, in database: Database) throws {
        statement = try database.cachedStatement(sql: sql)
        handle = statement.sqliteStatement
        sqlite3_reset(handle)
    }

    func bind(_ value: Int64, at index: Int32) { sqlite3_bind_int64(handle, index, value) }
    func bind(_ value: Bool, at index: Int32) { sqlite3_bind_int64(handle, index, value ? 1 : 0) }
    func bindNull(at index: Int32) { sqlite3_bind_null(handle, index) }

    func bind(_ value: Int?, at index: Int32) {
        if let value { bind(Int64(value), at: index) } else { bindNull(at: index) }
    }

    func bind(_ value: Int64?, at index: Int32) {
        if let value { bind(value, at: index) } else { bindNull(at: index) }
    }

    func bind(_ value: Bool?, at index: Int32) {
        if let value { bind(value, at: index) } else { bindNull(at: index) }
    }

    func bind(_ value: Double?, at index: Int32) {
        if let value { sqlite3_bind_double(handle, index, value) } else { bindNull(at: index) }
    }

    /// Binds text in UTF-8. SQLite copies it.
    func bind(text: [UInt8]?, at index: Int32) {
        guard let text else { return bindNull(at: index) }
        text.withUnsafeBufferPointer { bytes in
            _ = bytes.withMemoryRebound(to: CChar.self) {
                sqlite3_bind_text(handle, index, $0.baseAddress, Int32(clamping: $0.count), Self.copies)
            }
        }
    }

    /// Binds bytes. SQLite copies them.
    func bind(blob: [UInt8]?, at index: Int32) {
        guard let blob else { return bindNull(at: index) }
        _ = blob.withUnsafeBytes {
            sqlite3_bind_blob(handle, index, $0.baseAddress, Int32(clamping: $0.count), Self.copies)
        }
    }

    /// SQLITE_TRANSIENT, a macro that Swift does not import: SQLite makes its own copy.
    private static var copies: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    /// Steps to the next row; `false` at the end. At the end and after an error the statement can be bound again.
    func step() throws -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            sqlite3_reset(handle)
            return false
        default:
            let connection = sqlite3_db_handle(handle)
            let code = sqlite3_extended_errcode(connection)
            let message = sqlite3_errmsg(connection).map { String(cString: $0) }
            sqlite3_reset(handle)
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
        }
    }

    /// Runs a statement that returns no rows. Returns the number of changed rows.
    func run() throws -> Int {
        while try step() {}
        return Int(sqlite3_changes(sqlite3_db_handle(handle)))
    }

    /// Makes the statement ready to be bound again before its end.
    func reset() { sqlite3_reset(handle) }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
    func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
    func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }
    func optionalInt(_ column: Int32) -> Int? { isNull(column) ? nil : Int(int64(column)) }

    func bytes(_ column: Int32) -> [UInt8]? {
        guard let start = sqlite3_column_blob(handle, column) else { return nil }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }
}
