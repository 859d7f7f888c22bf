import Foundation
import Testing

@testable import Phones

@Suite struct DatabaseTests {
    private let folder: Folder
    init() throws { folder = try Folder() }

    private func open(_ bytes: [UInt8]) throws -> ExportDatabase {
        try ExportDatabase(copying: try folder.write(bytes, as: "export.db"), entry: "x")
    }

    @Test func `opens a database with its tables, columns and version`() throws {
        let bytes = try folder.database(
            10, "CREATE TABLE \"a \"\"b\" (x, y); CREATE VIEW v AS SELECT 1; PRAGMA user_version = 137;")
        let database = try open(bytes)
        #expect(database.tables == ["numbers": ["n", "text"], "a \"b": ["x", "y"]] && database.version == 137)
        #expect(try database.sum() == 55)
    }

    @Test func `rows get an order of their own, and the export stays as it is`() throws {
        let rows = """
            CREATE TABLE r (owner, moment); INSERT INTO r VALUES (2, 10), (1, 30), (1, 20), (1, 'x'), (NULL, 5), (1, 20);
            """
        let database = try open(try folder.database(10, rows))
        // The second time it exists already.
        for _ in 0..<2 { try database.order("r", rows: "SELECT owner, moment, rowid FROM main.r") }
        let statement = try database.statement("SELECT owner, moment, row FROM temp.r WHERE owner >= ?1")
        statement.bind(0)
        var found: [[Int64]] = []
        while try statement.step() { found.append((0..<3).map { statement.int64($0) }) }
        #expect(found == [[1, 20, 3], [1, 20, 6], [1, 30, 2], [2, 10, 1]])
        #expect(throws: ExportError.self) { _ = try database.statement("DELETE FROM temp.r").step() }
        #expect(throws: ExportError.self) { _ = try database.statement("DELETE FROM main.r").step() }
        #expect(throws: ExportError.self) { try database.order("none", rows: "SELECT 1, 2, 3 FROM main.missing") }
    }

    @Test func `a database that keeps a log beside it is read as it is`() throws {
        var bytes = try folder.database(1000)
        (bytes[18], bytes[19]) = (2, 2)
        #expect(try open(bytes).sum() == 500_500)
    }

    @Test func `refuses what is cut, grown or damaged as torn, and what is no database as foreign`() throws {
        let bytes = try folder.database(3000)
        func code(_ bytes: [UInt8]) -> ExportError.Code? {
            #expect(throws: ExportError.self) { _ = try open(bytes) }?.code
        }
        #expect(code(Array(bytes.dropLast(4096))) == .torn)
        #expect(code(Array(bytes.dropLast(1))) == .torn)
        #expect(code(bytes + [UInt8](repeating: 0, count: 4096)) == .torn)
        #expect(code([]) == .torn)
        // As long as it should be, and its second half not written yet.
        let half = bytes.count / 2
        #expect(code(Array(bytes.prefix(half)) + [UInt8](repeating: 0, count: bytes.count - half)) == .torn)
        #expect(code([UInt8](repeating: 7, count: 5000)) == .foreign)
    }

    /// 100 bytes are the header of a database; an empty zip has 22.
    @Test(arguments: [
        [], Array("hello".utf8), [0x50, 0x4b, 0x05, 0x06] + [UInt8](repeating: 0, count: 18),
        [UInt8](repeating: 7, count: 99),
    ])
    func `what is shorter than any export is called so`(bytes: [UInt8]) {
        let error = #expect(throws: ExportError.self) { _ = try open(bytes) }
        #expect(error?.code == .torn)
        #expect(error?.message.hasSuffix(" is too short for an export.") == true, "\(error?.message ?? "")")
    }

    /// SQLite 3.40 reports a NULL for each row of such a table.
    @Test func `a known false alarm of the check does not hide damage, and is none itself`() throws {
        let table = """
            CREATE TABLE level (value INTEGER NOT NULL, a INTEGER NOT NULL, b INTEGER NOT NULL, PRIMARY KEY (a, b)) WITHOUT ROWID;
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 500) INSERT INTO level SELECT i, i, i FROM c;
            """
        let bytes = try folder.database(5000, table)
        #expect(try open(bytes).sum() == 12_502_500)
        var other = bytes
        // A page in the middle, of the table of numbers.
        other.replaceSubrange(
            (other.count / 8192 * 4096)..<(other.count / 8192 * 4096 + 4096), with: [UInt8](repeating: 0, count: 4096))
        #expect(throws: ExportError.self) { _ = try open(other) }
    }

    @Test func `a file that changes while it is copied is torn`() throws {
        let stamp = try folder.write(try folder.database(10), as: "export.db")
        try folder.write(try folder.database(11), as: "export.db", at: 1_700_000_001)
        let error = #expect(throws: ExportError.self) { _ = try ExportDatabase(copying: stamp, entry: "x") }
        #expect(error?.code == .torn)
    }
}
