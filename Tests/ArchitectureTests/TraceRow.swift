/// A row of the traceability pages: a property in a guide, and its counterparts in this project.
struct TraceRow: Sendable, CustomStringConvertible {
    /// The guide's name of the property.
    var name: String
    /// Types and members, such as `Sample.end`.
    var symbols: [String]
    /// Topics with fields of their payloads.
    var places: [(topic: String, fields: [String])]
    /// Tests, by the file of their suite (`EnginesTests.SyncMachineTests`) and by name.
    var tests: [(suite: String, name: String)]
    /// The unreadable rest of the cells.
    var rest: String

    var description: String { name }

    /// Reads a table row; `nil` for any other line.
    init?(_ line: Substring) {
        guard line.hasPrefix("| `") else { return nil }
        let cells = line.dropFirst().split(separator: "|", omittingEmptySubsequences: false)
            .map { $0.drop { $0 == " " } }
        guard cells.count == 6, let name = Self.codes(cells[0]).first else { return nil }
        self.name = name
        symbols = Self.codes(cells[2])
        places = []
        for code in Self.codes(cells[3]) {
            if code.hasPrefix("D/") || code.hasPrefix("B/") {
                places.append((code, []))
            } else if !places.isEmpty {
                places[places.count - 1].fields.append(code)
            }
        }
        let pairs = cells[4].matches(of: /`([A-Za-z]+\.[A-Za-z]+)` `([^`]+)`/)
        tests = pairs.map { (String($0.1), String($0.2)) }
        rest =
            Self.prose(cells[2]) + Self.prose(cells[3])
            + cells[4].replacing(/`([A-Za-z]+\.[A-Za-z]+)` `([^`]+)`/, with: "").filter { $0 != " " && $0 != ";" }
    }

    private static func codes(_ cell: Substring) -> [String] {
        cell.matches(of: /`([^`]+)`/).map { String($0.1) }
    }

    private static func prose(_ cell: Substring) -> String {
        cell.replacing(/`[^`]+`/, with: "").filter { $0 != " " && $0 != "," && $0 != ";" }
    }
}
