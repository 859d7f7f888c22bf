import Testing

/// Every limit has a name, a reason and a test. `limits.tsv` has a line for each: the constant, and the sentences of its tests;
/// what is in parentheses is no sentence.
@Suite struct LimitRules {
    private static func rows() throws -> [(limit: String, tests: ArraySlice<String>)] {
        try Repository.text("Tests/ArchitectureTests/limits.tsv").split(separator: "\n").map { line in
            let cells = line.split(separator: "\t").map(String.init)
            return (cells.first ?? "", cells.dropFirst())
        }
    }

    private static func sources() throws -> [Repository.File] {
        try ["Sources", "Plugins"].flatMap { try Repository.swiftFiles(in: $0) }.filter { !$0.path.contains("/Tests/") }
    }

    /// The constants and variables of the sources, and those with a comment.
    private static func names() throws -> (all: Set<Substring>, explained: Set<Substring>) {
        var (all, explained): (Set<Substring>, Set<Substring>) = ([], [])
        for file in try sources() {
            var isAfterComment = false
            for line in file.lines {
                let text = line.drop { $0 == " " }
                if text.hasPrefix("//") {
                    isAfterComment = true
                    continue
                }
                let words = text.split(separator: " ", maxSplits: 6)
                if let index = words.firstIndex(where: { $0 == "let" || $0 == "var" }), index + 1 < words.count {
                    let name = words[index + 1].prefix { $0.isLetter || $0.isNumber }
                    all.insert(name)
                    if isAfterComment { explained.insert(name) }
                }
                isAfterComment = false
            }
        }
        return (all, explained)
    }

    @Test func `every limit is a constant that is explained where it stands`() throws {
        let (rows, names) = (try Self.rows(), try Self.names())
        #expect(rows.count > 350)
        for (limit, _) in rows {
            guard let name = limit.split(separator: ".").dropFirst().last else { continue }
            #expect(names.all.contains(name), "there is no limit \(limit)")
            #expect(names.explained.contains(name), "\(limit) has no comment")
        }
    }

    @Test func `every limit has a test`() throws {
        var sentences: Set<Substring> = []
        for file in try ["Tests", "Plugins"].flatMap({ try Repository.swiftFiles(in: $0) }) {
            for match in file.text.matches(of: /func `([^`]+)`/) { sentences.insert(match.1) }
        }
        for (limit, tests) in try Self.rows() {
            #expect(!tests.isEmpty, "\(limit) has no test")
            for test in tests where !test.hasPrefix("(") {
                #expect(sentences.contains(Substring(test)), "there is no test \(test)")
            }
        }
    }

    @Test func `every limit that config-reference prints has its line`() throws {
        let limits = Set(try Self.rows().map(\.limit))
        var count = 0
        for file in try Self.sources() {
            let rows = /OperatorLimit\(\s*"[^"]+",\s*[a-z]+: (?:Int\()?([A-Za-z.]+)(?:\(\))?(\.[A-Za-z]+)/
            for match in file.text.matches(of: rows) {
                count += 1
                // Without a call between them, the first part has all but the last name.
                #expect(limits.contains("\(match.1)\(match.2)"), "\(file) prints \(match.1)\(match.2)")
            }
            #expect(
                file.text.matches(of: /OperatorLimit\(\s*"/).count == file.text.matches(of: rows).count,
                "\(file) has a limit that is no constant")
        }
        #expect(count > 80)
    }
}
