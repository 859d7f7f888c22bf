import Foundation
import GRDB
import GRDBSQLite

/// The facts about a file that are read before it is opened: mostly its first page (file format, sections 1.3 and 1.6). That
/// leaves no other user's log beside it.
package struct StoreHeader {
    /// The first bytes of each database of SQLite (file format, section 1.3).
    static let signature = Array("SQLite format 3\0".utf8)

    /// Whether the file has SQLite's header.
    package let isDatabase: Bool
    /// Whether it is certainly the database of another program.
    package let isOfAnotherProgram: Bool
    private let path: String

    /// Whether it is certainly a store that a newer version has made or updated.
    package var isOfNewerVersion: Bool {
        isDatabase && !isOfAnotherProgram
            && !Set(StoreVersions.applied(in: path)).isSubset(of: Schema.migrator.migrations)
    }

    /// Whether a gateway uses the store now.
    package var isInUse: Bool { FileLock.isHeld(of: path) }

    /// Reads the file; one that cannot be read is no database.
    package init(of path: String) {
        let path = StorePath.resolved(path)
        self.path = path
        let bytes = DiskFile.read(path, upTo: 108) ?? []
        isDatabase = bytes.starts(with: Self.signature)
        guard isDatabase, bytes.count == 108 else {
            isOfAnotherProgram = false
            return
        }
        let owner = bytes[68..<72].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        // Its schema begins on the first page: a leaf (13) without a cell has no table, and no program owns it.
        let isNew = bytes[100] == 13 && bytes[103] == 0 && bytes[104] == 0
        // Until a new store's log is moved into it, the file itself has neither owner nor tables.
        isOfAnotherProgram = owner != Schema.applicationID && !isNew
    }
}

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
