import Foundation
import GRDBSQLite
import Testing

@testable import Phones

/// A folder for one test.
final class Folder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "exports-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name).path }

    /// Writes a file with a given time.
    @discardableResult
    func write(_ bytes: [UInt8], as name: String, at time: Double = 1_700_000_000) throws -> FileStamp {
        try Data(bytes).write(to: url.appending(path: name))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: time)], ofItemAtPath: path(name))
        return try #require(FileStamp(of: path(name)))
    }

    /// A database of numbers from 1 to `count`, as bytes.
    func database(_ count: Int, _ more: String = "") throws -> [UInt8] {
        let file = path("made.db")
        try? FileManager.default.removeItem(atPath: file)
        var handle: OpaquePointer?
        try #require(sqlite3_open(file, &handle) == SQLITE_OK)
        let sql = """
            CREATE TABLE numbers (n INTEGER PRIMARY KEY, text TEXT);
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < \(count))
            INSERT INTO numbers SELECT i, 'the number ' || i FROM c;
            \(more)
            """
        var message: UnsafeMutablePointer<CChar>?
        let status = sqlite3_exec(handle, sql, nil, nil, &message)
        sqlite3_close(handle)
        try #require(status == SQLITE_OK, "\(message.map { String(cString: $0) } ?? "")")
        return [UInt8](try Data(contentsOf: URL(filePath: file)))
    }
}

extension ExportDatabase {
    /// The sum of the numbers of `Folder.database`.
    func sum() throws -> Int64 {
        let statement = try statement("SELECT sum(n) FROM numbers")
        return try statement.step() ? statement.int64(0) : 0
    }
}
