/// A row of `docs/traceability.tsv`, without its section: names of a guide, and their counterparts in this project.
struct TraceRow: Sendable, CustomStringConvertible {
    /// The guide's names, in full.
    var names: [String]
    /// Topics with fields of their payloads.
    var places: [(topic: String, fields: [String])]
    /// Tests, by the file of their suite (`EnginesTests.SyncMachineTests`) and by name.
    var tests: [(suite: String, name: String)]
    /// The unreadable rest of the cells.
    var rest: String

    var description: String { names.joined(separator: ", ") }

    /// Reads a row; `nil` for any other line.
    init?(_ line: Substring) {
        guard line.hasPrefix("`") else { return nil }
        let cells = line.split(separator: "\t", omittingEmptySubsequences: false)
        guard cells.count == 4 else { return nil }
        names = Self.names(cells[0])
        places = []
        for code in Self.codes(cells[2]) {
            if code.hasPrefix("D/") || code.hasPrefix("B/") {
                places.append((code, []))
            } else if !places.isEmpty {
                places[places.count - 1].fields.append(code)
            }
        }
        let pairs = cells[3].matches(of: /`([A-Za-z]+\.[A-Za-z]+)` `([^`]+)`/)
        tests = pairs.map { (String($0.1), String($0.2)) }
        rest =
            Self.prose(cells[0]) + Self.prose(cells[2])
            + cells[3].replacing(/`([A-Za-z]+\.[A-Za-z]+)` `([^`]+)`/, with: "").filter { $0 != " " && $0 != ";" }
    }

    /// The names of a cell. One that begins with a dot continues the type of the name before it.
    private static func names(_ cell: Substring) -> [String] {
        var names: [String] = []
        var type = ""
        for code in codes(cell) {
            if code.hasPrefix(".") {
                names.append(type + code)
            } else {
                names.append(code)
                type = String(code.prefix { $0 != "." })
            }
        }
        return names
    }

    private static func codes(_ cell: Substring) -> [String] {
        cell.matches(of: /`([^`]+)`/).map { String($0.1) }
    }

    private static func prose(_ cell: Substring) -> String {
        cell.replacing(/`[^`]+`/, with: "").filter { $0 != " " && $0 != "," && $0 != ";" }
    }
}
