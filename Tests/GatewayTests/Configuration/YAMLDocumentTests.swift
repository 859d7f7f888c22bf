import Gateway
import GatewayKit
import Testing

@Suite struct YAMLDocumentTests {
    private func issues(_ text: String) -> [String] {
        do throws(ConfigurationError) {
            _ = try YAMLDocument(text)
            return []
        } catch {
            return error.issues.map { $0.text(file: nil) }
        }
    }

    @Test func `keeps the line of every key and value`() throws {
        let root = try YAMLDocument("# comment\na: 1\nb:\n  - x\n  - c: \"2\"\n").root
        let expected = ConfigurationValue(
            .map([
                (ConfigurationKey("a", line: 2), ConfigurationValue(.scalar("1", isQuoted: false), line: 2)),
                (
                    ConfigurationKey("b", line: 3),
                    ConfigurationValue(
                        .list([
                            ConfigurationValue(.scalar("x", isQuoted: false), line: 4),
                            ConfigurationValue(
                                .map([
                                    (
                                        ConfigurationKey("c", line: 5),
                                        ConfigurationValue(.scalar("2", isQuoted: true), line: 5)
                                    )
                                ]), line: 5),
                        ]), line: 4)
                ),
            ]), line: 2)
        #expect(root == expected)
    }

    @Test(arguments: ["", "# only a comment\n", "---\n"])
    func `takes an empty document as no keys`(text: String) throws {
        var reader = ConfigurationReader(try YAMLDocument(text).root)
        #expect(reader.keys.isEmpty)
        #expect(reader.finish().isEmpty)
    }

    @Test(arguments: ["~", "null", "Null", "NULL", ""])
    func `knows how nothing is written`(text: String) throws {
        #expect(try YAMLDocument("a: \(text)").root["a"]?.content == .null)
    }

    @Test(arguments: ["\"null\"", "'null'", "!!str null", "|-\n  null"])
    func `takes a quoted null as a text`(text: String) throws {
        #expect(try YAMLDocument("a: \(text)").root["a"]?.content == .scalar("null", isQuoted: true))
    }

    @Test func `puts what an alias stands for in its place`() throws {
        let root = try YAMLDocument("a: &x {k: 1}\nb: *x\n").root
        #expect(root["b"] == root["a"])
    }

    @Test(arguments: [
        ("a: 1\na: 2\n", "2: The same key occurs twice in one map: a (lines 1 and 2). Keep one of them."),
        (
            "m:\n  - b: 1\n    c: {b: 2}\n    # b: 3\n    d:\n      b: 4\n    b : 5\nb: 6\n",
            "7: The same key occurs twice in one map: b (lines 2 and 7). Keep one of them."
        ),
        (
            "a: 1\r\nb: 2\r\na: 3\r\nb: 4\r\n",
            "3: The same key occurs twice in one map: a (lines 1 and 3), b. Keep one of them."
        ),
        ("a: {b: 1,\n  b: 2}\n", "1: The same key occurs twice in one map: b. Keep one of them."),
        ("a:\n\tb: 1\n", "2: YAML is indented by spaces, and there is a tab; replace it."),
        ("a: 1\n<<: {b: 2}\n", "2: Merge keys (<<) are not supported; write the keys out."),
        (
            "a: !env HOME\n",
            "1: Tags such as !env are not supported; write the value itself, or for a secret {file: PATH}."
        ),
        ("a: 1\n[1, 2]: 2\n", "2: A key must be a word, not a list or a map."),
        ("a: 1\n---\nb: 2\n", "2: A second document begins here (---); the configuration is one document."),
    ])
    func `says what it cannot read, with the line`(text: String, issue: String) {
        #expect(issues(text) == [issue])
    }

    @Test(arguments: [
        ("a: 1\nb: [1, 2\nc: 3\n", 3), ("a: b: c\n", 1), ("a: 1\n  b: 2\n", 2), ("a: *x\n", 1), ("\"a\n", 2),
        ("ok: 1\nbad: \u{1}\n", 2), ("a: @home\n", 1),
    ])
    func `finds the line of broken YAML`(text: String, line: Int) {
        let found = issues(text)
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("\(line): ") == true, "\(found)")
    }

    @Test func `stops at aliases that stand for billions of values`() {
        var text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
        for level in 1...9 {
            let before = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            text += "a\(level): &a\(level) [\(before)]\n"
        }
        #expect(issues(text).contains { $0.contains("more than 500000 values") })
    }

    @Test(arguments: [33, 500, 100_000]) func `refuses nesting without end`(depth: Int) {
        let text = "a: " + String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        #expect(issues(text).count == 1)
    }

    @Test func `takes nesting up to the limit`() throws {
        let depth = ConfigurationLimits.depth - 1
        _ = try YAMLDocument("a: " + String(repeating: "[", count: depth) + String(repeating: "]", count: depth))
    }
}
