import Foundation
import GRDBSQLite

/// The versions of a store's file, read without a lock and without its log, so that nothing is left beside it: another user
/// may be the one who runs the gateway.
enum StoreVersions {
    /// The steps of the schema that the file has; none if it has no such table, or cannot be read in this way. A version that
    /// is only in the log, because its gateway still runs or has crashed, is not seen.
    static func applied(in path: String) -> [String] {
        var components = URLComponents()
        components.scheme = "file"
        components.path = URL(filePath: path).path
        components.queryItems = [URLQueryItem(name: "mode", value: "ro"), URLQueryItem(name: "immutable", value: "1")]
        guard let uri = components.string else { return [] }
        var database: OpaquePointer?
        defer { sqlite3_close_v2(database) }
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX
        guard sqlite3_open_v2(uri, &database, flags, nil) == SQLITE_OK else { return [] }
        var statement: OpaquePointer?
        let sql = "SELECT identifier FROM grdb_migrations"
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else { return [] }
        defer { sqlite3_finalize(statement) }
        var versions: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW, let text = sqlite3_column_text(statement, 0) {
            versions.append(String(cString: text))
        }
        return versions
    }
}
