import Foundation
import GRDBSQLite

/// A whole export, as a private, unchanging copy that is open for reading. It has no name on disk any more: nothing is left of
/// it when it is closed, even by a crash.
///
/// It belongs to one task at a time.
package final class ExportDatabase {
    /// The tables, each with its columns in order.
    package let tables: [String: [String]]
    /// `PRAGMA user_version`: the schema's version, by the app's own count.
    package let version: Int
    private let handle: OpaquePointer
    private var orders: Set<String> = []

    /// The most bytes of a row, or of a text or blob in it.
    package static let longestValue: Int32 = 4 << 20

    /// Copies a file that stood still, checks the copy, and opens it.
    /// - Parameters:
    ///   - stamp: the file as it was checked; another one by now is torn.
    ///   - entry: the name of the database in a zip.
    /// - Throws: `torn` if it is not whole; then the export that was read before still holds.
    package convenience init(copying stamp: FileStamp, entry: String) throws(ExportError) {
        let source = try SourceFile(stamp)
        let copy = try PrivateFile()
        let first = try source.read(at: 0, count: Int(min(stamp.size, Int64(DatabaseHeader.length))))
        if let header = DatabaseHeader(first) {
            guard header.fits(length: stamp.size) else {
                throw ExportError(.torn, "\(stamp.path) is shorter or longer than its header says.")
            }
            guard stamp.size <= ZipLimits.uncompressed else {
                throw ExportError(.tooLarge, "\(stamp.path) is larger than any export.")
            }
            var place: Int64 = 0
            while place < stamp.size {
                let bytes = try source.read(at: place, count: Int(min(Int64(SourceFile.chunk), stamp.size - place)))
                try copy.write(bytes)
                place += Int64(bytes.count)
            }
        } else if first.starts(with: [0x50, 0x4b, 0x03, 0x04]) {
            try source.extract(entry, to: copy)
        } else if stamp.size < Int64(DatabaseHeader.length) {
            throw ExportError(.torn, "\(stamp.path) is too short for an export.")
        } else {
            throw ExportError(.foreign, "\(stamp.path) is neither an SQLite database nor a zip.")
        }
        try source.checkUnchanged()
        try self.init(opening: copy, named: stamp.path)
    }

    /// Opens a copy, whose file is removed with `copy`.
    private init(opening copy: PrivateFile, named path: String) throws(ExportError) {
        guard let size = FileStamp(of: copy.path)?.size,
            let header = DatabaseHeader(try SourceFile.beginning(of: copy.path)), header.fits(length: size)
        else { throw ExportError(.torn, "\(path) is shorter or longer than its header says.") }
        var opened: OpaquePointer?
        let escaped = copy.path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? copy.path
        // Immutable: no lock, no log, and no other file is searched for beside it.
        let status = sqlite3_open_v2(
            "file:\(escaped)?mode=ro&immutable=1", &opened,
            SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
            nil)
        guard status == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw ExportError(.torn, "\(path) cannot be opened as a database (\(status)).")
        }
        handle = opened
        // From here on the copy has no name: nothing is left of it, even by a crash.
        copy.removeName()
        // No text or blob of an export is longer; a packed one could exhaust the memory.
        sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, Self.longestValue)
        // A check of a large file takes a minute: it ends with its task.
        sqlite3_progress_handler(opened, 100_000, { _ in Task.isCancelled ? 1 : 0 }, nil)
        do throws(ExportError) {
            for pragma in ["trusted_schema = OFF", "query_only = ON", "cell_size_check = ON"] {
                let statement = try ExportStatement("PRAGMA \(pragma)", in: opened)
                while try statement.step() {}
            }
            try Self.check(opened, named: path)
            tables = try Self.schema(of: opened)
            let statement = try ExportStatement("PRAGMA user_version", in: opened)
            version = try statement.step() ? Int(statement.int64(0)) : 0
        } catch {
            sqlite3_close_v2(opened)
            throw error
        }
    }

    // It waits for statements that are still in use.
    deinit { sqlite3_close_v2(handle) }

    /// Prepares a statement.
    package func statement(_ sql: String) throws(ExportError) -> ExportStatement {
        try ExportStatement(sql, in: handle)
    }

    /// Keeps an order of rows that the export has no index for, in the table `temp.<name>`: its key is the columns `owner`,
    /// `moment` and `row`. It lies where SQLite keeps temporary files, and goes with this object. The export itself stays as it is.
    /// - Parameters:
    ///   - name: the table's name. An order that the table has already is kept.
    ///   - rows: selects owner, moment and row. Rows without whole numbers are skipped.
    package func order(_ name: String, rows: String) throws(ExportError) {
        guard !orders.contains(name) else { return }
        try run("PRAGMA query_only = OFF")
        let table = "temp.\(Self.quoted(name))"
        try run(
            """
            CREATE TABLE \(table) (owner INTEGER, moment INTEGER, row INTEGER, PRIMARY KEY (owner, moment, row)) WITHOUT ROWID
            """)
        try run(
            """
            INSERT OR IGNORE INTO \(table)
            WITH found (owner, moment, row) AS (\(rows))
            SELECT * FROM found WHERE typeof(owner) || typeof(moment) || typeof(row) = 'integerintegerinteger'
            ORDER BY 1, 2, 3
            """)
        try run("PRAGMA query_only = ON")
        orders.insert(name)
    }

    private func run(_ sql: String) throws(ExportError) {
        let statement = try ExportStatement(sql, in: handle)
        while try statement.step() {}
    }

    /// A name within a statement.
    package static func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }

    /// Checks all pages, and that rows are in the order of their keys: a damaged key makes rows come out of order, or twice. That
    /// costs a quarter more than `quick_check`, which does not check keys.
    ///
    /// SQLite before 3.41 reports `NULL value in …` for sound tables without row ids whose key is not their first columns.
    /// Such a line says nothing of a torn file. There is one per row, so the check must not stop after the usual hundred.
    private static func check(_ handle: OpaquePointer, named path: String) throws(ExportError) {
        let statement = try ExportStatement("PRAGMA integrity_check(2147483647)", in: handle)
        while try statement.step() {
            let line = statement.text(0) ?? ""
            guard line == "ok" || line.hasPrefix("NULL value in ") else {
                throw ExportError(.torn, "\(path) is not whole: \(line.prefix(200))")
            }
        }
    }

    private static func schema(of handle: OpaquePointer) throws(ExportError) -> [String: [String]] {
        var tables: [String: [String]] = [:]
        let statement = try ExportStatement(
            """
            SELECT m.name, c.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c
            WHERE m.type = 'table' ORDER BY m.name, c.cid
            """, in: handle)
        while try statement.step() {
            guard let table = statement.text(0), let column = statement.text(1) else { continue }
            tables[table, default: []].append(column)
        }
        return tables
    }
}

extension SourceFile {
    /// The first bytes of a file of ours, as far as there are any.
    fileprivate static func beginning(of path: String) throws(ExportError) -> [UInt8] {
        guard let stamp = FileStamp(of: path) else { return [] }
        return try SourceFile(stamp).read(at: 0, count: Int(min(stamp.size, Int64(DatabaseHeader.length))))
    }
}

/// The header of an SQLite file, which describes the whole file (the file format's section 1.3).
struct DatabaseHeader {
    /// The bytes that it needs.
    static let length = 100
    /// The first bytes of every SQLite 3 file.
    static let magic = Array("SQLite format 3\0".utf8)

    private let bytes: ByteView

    /// `nil` if the bytes do not begin an SQLite file.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.length, bytes.starts(with: Self.magic) else { return nil }
        self.bytes = ByteView(bytes)
    }

    /// Whether a file of this length can be whole: it has full pages, and as many as the header counts.
    func fits(length: Int64) -> Bool {
        guard let code = big(16, 2), let counted = big(28, 4), let change = big(24, 4), let valid = big(92, 4) else {
            return false
        }
        let page = code == 1 ? 65_536 : code
        guard page >= 512, page & (page - 1) == 0, length > 0, length % page == 0 else { return false }
        // The count holds only if the version that wrote it also wrote the rest of the header.
        guard counted != 0, change == valid else { return true }
        return counted * page == length
    }

    private func big(_ at: Int, _ count: Int) -> Int64? {
        bytes.slice(at, count)?.reduce(0) { $0 << 8 | Int64($1) }
    }
}
