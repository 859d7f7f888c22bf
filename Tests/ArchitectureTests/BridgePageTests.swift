import Testing

/// Checks that the page for a phone as bridge has a row for every public name of the guides: calls, callbacks, models and their
/// members.
@Suite struct BridgePageTests {
    private static let page = "docs/PhoneAsBridge.md"
    private static let list = "Tests/ArchitectureTests/Guides/bridge-names.txt"

    /// The names in the first column of the tables that begin with `guide`.
    static func names(in text: String) -> Set<String> {
        var names: Set<String> = []
        var isInTable = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("| guide |") {
                isInTable = true
                continue
            }
            isInTable = isInTable && line.hasPrefix("|")
            guard isInTable, !line.hasPrefix("| ---") else { continue }
            let cell = line.dropFirst(2).split(separator: " | ").first ?? ""
            for code in cell.matches(of: /`([^`]+)`/) {
                names.formUnion(code.1.split { !$0.isLetter && !$0.isNumber }.map(String.init))
            }
        }
        return names
    }

    @Test func `every public name of the guides has a row that says which message carries it`() throws {
        let wanted = try Repository.text(Self.list).split(separator: "\n").map(String.init)
        #expect(wanted.count > 120 && wanted == Set(wanted).sorted(), "one name a line, in order, each once")
        let found = try Self.names(in: Repository.text(Self.page))
        #expect(Set(wanted).subtracting(found).sorted() == [], "names without a row in \(Self.page)")
        #expect(found.subtracting(wanted).sorted() == [], "names that \(Self.list) lacks")
    }

    @Test func `a name counts only where its row is`() {
        let text = """
            `TSElsewhere` stands in a sentence.

            | guide | Vitals Link |
            | --- | --- |
            | `TSItem.value`, `callWith:` | `TSOther` |

            | other | table |
            | --- | --- |
            | `TSNothing` | none |
            """
        #expect(Self.names(in: text) == ["TSItem", "value", "callWith"])
    }
}
