import Testing

/// Checks that the table of `docs/Traceability.md` is correct and complete.
@Suite struct TraceabilityTests {
    /// The guides, and the entities of Home Assistant, each with its section. `Guides/<name>.txt` lists the names, one
    /// per line.
    private static let guides = [
        ("heart-rate", "Heart rate"), ("blood-pressure", "Blood pressure"), ("blood-oxygen", "Blood oxygen"),
        ("auto-monitor", "Automatic monitoring"), ("data-sync", "Data synchronisation"),
        ("home-assistant", "Home Assistant"),
    ]

    /// The lines of the table with its head.
    private static func table() throws -> [Substring] {
        try Repository.text("docs/traceability.tsv").split(separator: "\n")
    }

    /// The lines of a section, without its name.
    private static func lines(_ section: String) throws -> [Substring] {
        try table().filter { $0.hasPrefix("\(section)\t") }.map { $0.dropFirst(section.count + 1) }
    }

    private static func rows(_ section: String) throws -> [TraceRow] { try lines(section).compactMap { TraceRow($0) } }

    @Test(arguments: guides)
    func `every row names topics, fields and tests that exist`(guide: String, section: String) throws {
        let evidence = try TraceEvidence.all()
        for row in try Self.rows(section) { #expect(evidence.issues(of: row) == [], "\(section): \(row)") }
    }

    @Test(arguments: guides)
    func `everything that a guide has stands in its section, once`(guide: String, section: String) throws {
        let wanted = try Repository.text("Tests/ArchitectureTests/Guides/\(guide).txt")
            .split(separator: "\n").map(String.init)
        let traced = try Self.rows(section).flatMap(\.names)
        #expect(wanted.count > 9)
        #expect(Set(wanted).count == wanted.count)
        #expect(Set(traced).count == traced.count)
        #expect(Set(wanted).subtracting(traced) == [])
        #expect(Set(traced).subtracting(wanted) == [])
    }

    @Test(arguments: guides)
    func `every line of a table is a row`(guide: String, section: String) throws {
        let table = try Self.table()
        #expect(table.first == "section\tguide\there\tMQTT\ttest")
        for line in table.dropFirst() {
            #expect(Self.guides.contains { line.hasPrefix("\($0.1)\t") }, "\(line)")
        }
        let lines = try Self.lines(section)
        #expect(try Self.rows(section).count == lines.count)
    }

    @Test func `a device's entities are tried with a real Home Assistant`() throws {
        let rows = try Self.rows("Home Assistant")
        #expect(rows.flatMap(\.names).count > 9)
        for row in rows { #expect(row.tests.contains { $0.suite.hasPrefix("HomeAssistant.") }, "\(row)") }
    }

    /// A good row; the tests damage it.
    static let cells = [
        "`Item.end`, `.start`", "when it ends", "`D/measurement/<metric>` `end`, `samples.start`; `D/sync`",
        "`StoreTests.IngestTests` `knows a sample that comes again`; `LinkTests.LinkCallTests` `sets the clock, and pings`",
    ]

    private func issues(_ column: Int, _ cell: String) throws -> [String] {
        var cells = Self.cells
        cells[column] = cell
        let row = try #require(TraceRow(Substring(cells.joined(separator: "\t"))))
        return try TraceEvidence.all().issues(of: row)
    }

    @Test func `a good row has no error`() throws { #expect(try issues(1, "anything") == []) }

    @Test(
        arguments: [
            (0, "`Item.end` Item.start", "cannot read: Item.start"), (2, "D/sync", "cannot read: D/sync"),
            (2, "", "no topic"), (2, "`D/sink`", "no topic D/sink"),
            (2, "`D/sync` `metric_total`", "D/sync has no metric_total"),
            (2, "`D/daily/<metric>` `samples.start`", "D/daily/<metric> has no samples.start"),
            (2, "`D/command/sink`", "no command sink"),
            (2, "`D/command/sync` `limit`", "D/command/sync takes no limit"),
            (2, "`D/config/set` `stress.alert.limit`", "D/config/set has no stress.alert.limit"), (3, "", "no test"),
            (3, "`StoreTests.IngestTests` `knows nothing`", "no test StoreTests.IngestTests knows nothing"),
            (3, "`HomeAssistant.entities` `are blue`", "no test HomeAssistant.entities are blue"),
            (
                3, "`StoreTests.DayTests` `knows a sample that comes again`",
                "no test StoreTests.DayTests knows a sample that comes again"
            ),
            (3, "`StoreTests.IngestTests`", "no test"),
        ] as [(Int, String, String)])
    func `a bad row is found`(column: Int, cell: String, issue: String) throws {
        #expect(try issues(column, cell).contains(issue))
    }

    @Test func `a name that begins with a dot continues the type before it`() throws {
        let row = try #require(TraceRow("`Item.end`, `.start`, `note: ends`\tboth ends\t`D/sync`\tno test"))
        #expect(row.names == ["Item.end", "Item.start", "note: ends"])
    }
}
