import Testing

/// Checks that the traceability pages are correct and complete.
@Suite struct TraceabilityTests {
    /// The guides and the additions of the gateway, each with its page. `Guides/<name>.txt` lists the properties, one name
    /// per line.
    private static let guides = [
        ("heart-rate", "TraceabilityHeartRate"), ("blood-pressure", "TraceabilityBloodPressure"),
        ("blood-oxygen", "TraceabilityBloodOxygen"), ("auto-monitor", "TraceabilityAutoMonitor"),
        ("data-sync", "TraceabilityDataSync"), ("gateway", "TraceabilityGateway"),
        ("metrics", "TraceabilityMetrics"),
    ]

    private static func lines(_ page: String) throws -> [Substring] {
        try Repository.text("docs/\(page).md").split(separator: "\n")
    }

    private static func rows(_ page: String) throws -> [TraceRow] { try lines(page).compactMap { TraceRow($0) } }

    @Test(arguments: guides)
    func `every row names symbols, topics, fields and tests that exist`(guide: String, page: String) throws {
        let evidence = try TraceEvidence.all()
        for row in try Self.rows(page) { #expect(evidence.issues(of: row) == [], "\(page): \(row)") }
    }

    @Test(arguments: guides)
    func `everything that a guide has stands in its page, once`(guide: String, page: String) throws {
        let wanted = try Repository.text("Tests/ArchitectureTests/Guides/\(guide).txt")
            .split(separator: "\n").map(String.init)
        let traced = try Self.rows(page).map(\.name)
        #expect(wanted.count > 25)
        #expect(Set(wanted).count == wanted.count)
        #expect(Set(traced).count == traced.count)
        #expect(Set(wanted).subtracting(traced) == [])
        #expect(Set(traced).subtracting(wanted) == [])
    }

    @Test(arguments: guides)
    func `every line of a table is a row`(guide: String, page: String) throws {
        let lines = try Self.lines(page)
        #expect(lines.count < 300)
        let heads = lines.count { $0 == "| guide | here | symbol | MQTT | test |" }
        let tables = lines.filter { $0.hasPrefix("|") }.count - 2 * heads
        #expect(heads > 2)
        #expect(try Self.rows(page).count == tables)
    }

    @Test func `the overview counts the rows of each page`() throws {
        let overview = try Repository.text("docs/Traceability.md")
        var counts: [String: Int] = [:]
        for match in overview.matches(of: /\]\((\w+)\.md\): (\d+) rows/) { counts[String(match.1)] = Int(match.2) }
        for (_, page) in Self.guides { #expect(try counts[page] == Self.rows(page).count, "\(page)") }
        let additions: Set = ["TraceabilityGateway", "TraceabilityMetrics"]
        let guides = counts.filter { !additions.contains($0.key) }.values.reduce(0, +)
        #expect(overview.contains("There are \(guides)."))
    }

    @Test func `a device's entities are tried with a real Home Assistant`() throws {
        let rows = try Self.rows("TraceabilityGateway").filter {
            $0.name.hasPrefix("entity") || $0.name.hasPrefix("entities")
        }
        #expect(rows.count > 9)
        for row in rows { #expect(row.tests.contains { $0.suite.hasPrefix("HomeAssistant.") }, "\(row)") }
    }

    /// A good row; the tests damage it.
    static let cells = [
        "`x`", "when it ends", "`Sample.end`, `Sample`", "`D/measurement/<metric>` `end`, `samples.start`; `D/sync`",
        "`StoreTests.IngestTests` `knows a sample that comes again`; `LinkTests.LinkCallTests` `sets the clock, and pings`",
    ]

    private func issues(_ column: Int, _ cell: String) throws -> [String] {
        var cells = Self.cells
        cells[column] = cell
        let row = try #require(TraceRow("| \(cells.joined(separator: " | ")) |"))
        return try TraceEvidence.all().issues(of: row)
    }

    @Test func `a good row has no error`() throws { #expect(try issues(1, "anything") == []) }

    @Test(
        arguments: [
            (2, "", "no symbol"), (2, "`Sample.ending`", "no symbol Sample.ending"),
            (2, "`Sampel`", "no symbol Sampel"),
            (2, "Sample.end", "cannot read: Sample.end"), (3, "", "no topic"), (3, "`D/sink`", "no topic D/sink"),
            (3, "`D/sync` `metric_total`", "D/sync has no metric_total"),
            (3, "`D/daily/<metric>` `samples.start`", "D/daily/<metric> has no samples.start"),
            (3, "`D/command/sink`", "no command sink"),
            (3, "`D/command/sync` `limit`", "D/command/sync takes no limit"),
            (3, "`D/config/set` `stress.alert.limit`", "D/config/set has no stress.alert.limit"), (4, "", "no test"),
            (4, "`StoreTests.IngestTests` `knows nothing`", "no test StoreTests.IngestTests knows nothing"),
            (4, "`HomeAssistant.entities` `are blue`", "no test HomeAssistant.entities are blue"),
            (
                4, "`StoreTests.DayTests` `knows a sample that comes again`",
                "no test StoreTests.DayTests knows a sample that comes again"
            ),
            (4, "`StoreTests.IngestTests`", "no test"),
        ] as [(Int, String, String)])
    func `a bad row is found`(column: Int, cell: String, issue: String) throws {
        #expect(try issues(column, cell).contains(issue))
    }

    @Test func `declarations are found by their full names, and not within functions`() {
        let file = Repository.File(
            path: "x",
            text: """
                public struct Outer: Sendable {
                    package private(set) var first = 0
                    enum Inner: String { case a, b = "B", c(Int, String) }
                    enum Order {
                        case wait(
                            for: Int, at: Int)
                        case stop
                    }
                    init() {}
                    static func make(
                        _ size: Int
                    ) -> Outer {
                        let local = 1
                    }
                    func `in`() {}
                }

                extension Outer.Inner
                {
                    // var comment = 1
                    var size: Int { 1 }
                }
                let global = 1
                """)
        #expect(
            SwiftDeclarations([file]).names == [
                "Outer", "Outer.first", "Outer.Inner", "Outer.Inner.a", "Outer.Inner.b", "Outer.Inner.c", "Outer.Order",
                "Outer.Order.wait", "Outer.Order.stop", "Outer.init", "Outer.make", "Outer.in", "Outer.Inner.size",
                "global",
            ])
    }
}
