import Foundation
import Testing

@testable import Phones

/// The table of families in the README, against the families that the driver names.
@Suite struct FamilyTableTests {
    /// Rows of the table that are no family: their tables may be those of any wearable.
    private static let common: Set<String> = ["rule of names", "cuffs, straps, scales, meters", "all"]

    /// The rows of the table: each with its name, and the tables of its second column.
    static func rows(in text: String) -> [(name: String, tables: [String])] {
        var rows: [(name: String, tables: [String])] = []
        var isInTable = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("| family |") {
                isInTable = true
                continue
            }
            isInTable = isInTable && line.hasPrefix("|")
            guard isInTable, !line.hasPrefix("| ---") else { continue }
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count > 1 else { continue }
            rows.append((cells[0], cells[1].matches(of: /`([^`]+)`/).map { String($0.1) }))
        }
        return rows
    }

    @Test func `the README has every family that is named, with its tables, and no other`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        let rows = Self.rows(in: try String(contentsOf: folder.appending(path: "Gadgetbridge.md"), encoding: .utf8))
        #expect(Set(rows.map(\.name)).isSuperset(of: Self.common))
        let families = rows.filter { !Self.common.contains($0.name) }
        #expect(families.map(\.name) == Family.all.map(\.name))
        for (family, row) in zip(Family.all, families) {
            #expect(!row.tables.isEmpty, "\(row.name)")
            for table in row.tables { #expect(table.hasPrefix(family.prefix), "\(row.name): \(table)") }
        }
    }

    @Test func `a row counts only where the table is`() {
        let text = """
            | `X_*` | before |

            | family | tables | what |
            | --- | --- | --- |
            | One, Two | `ONE_*`, `TWO_SAMPLE` | all of `THREE_*` |

            | other | `Y_*` |
            """
        let rows = Self.rows(in: text)
        #expect(rows.map(\.name) == ["One, Two"] && rows.map(\.tables) == [["ONE_*", "TWO_SAMPLE"]])
    }
}
