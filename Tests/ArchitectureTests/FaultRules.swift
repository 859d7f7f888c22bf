import Testing

/// What `deploy/faults` has to know of the code.
@Suite struct FaultRules {
    @Test func `the row of an earlier store can undo the newest version of the schema`() throws {
        let schema = try Repository.text("Sources/Store/Schema/Schema.swift")
        let newest = schema.matches(of: /registerMigration\("(\d+)"/).compactMap { Int($0.1) }.max()
        let rows = try Repository.text("deploy/faults.d/disk_rows.py")
        let undo = try #require(rows.firstMatch(of: /(?s)\nUNDO = \{\n(.*?)\n\}/)?.1)
        let known = undo.matches(of: /"(\d+)": "[^"]+;"/).compactMap { Int($0.1) }
        #expect(newest != nil && known.max() == newest, "UNDO knows \(known), and the schema has \(newest ?? 0)")
    }
}
