import Foundation

/// The evidence for the rows of `docs/traceability.tsv`: tests, and the contract with its fixtures.
struct TraceEvidence {
    /// The text of each file with tests, by `<target>.<file>`.
    private var suites: [String: String] = [:]
    /// The topics of the contract's table.
    private let topics: Set<String>
    /// The rows of the contract's commands, by the command's name, and the rows common to all commands.
    private var commands: [String: String] = [:]
    /// Payloads of the fixtures, by topic in the contract's table.
    private var payloads: [String: [Any]] = [:]
    private let configuration: String
    /// The checks of the trial with a real Home Assistant: the sentences of those in its list, by `HomeAssistant.<file>`.
    private var checks: [String: Set<String>] = [:]

    private static let catalog = "docs"

    // It never changes, and its documents are only read.
    nonisolated(unsafe) private static let shared = Result { try TraceEvidence() }

    /// The evidence, read once for all tests.
    static func all() throws -> TraceEvidence { try shared.get() }

    private init() throws {
        let plugins = try Repository.swiftFiles(in: "Plugins")
        for file in try Repository.swiftFiles(in: "Tests") + plugins.filter({ $0.path.contains("/Tests/") }) {
            let parts = file.path.split(separator: "/")
            let target = parts[0] == "Tests" ? String(parts[1]) : "\(parts[1])Tests"
            suites["\(target).\(parts[parts.count - 1].dropLast(6))"] = file.text
        }
        checks = try Self.homeAssistantChecks()
        let contract = try Repository.text("\(Self.catalog)/Contract.md")
        topics = Set(contract.matches(of: /(?m)^\| `([BD]\/[^`]+)` \|/).map { String($0.1) })
        // The part of the page before the answers describes requests.
        let page = try Repository.text("\(Self.catalog)/ContractCommands.md")
        for row in page[..<(page.range(of: "\n## Answers")?.lowerBound ?? page.endIndex)].split(separator: "\n") {
            guard let name = row.prefixMatch(of: /\| `([a-z_]+)` \|/)?.1 else { continue }
            commands[String(name), default: ""] += row
        }
        configuration = try Repository.text("\(Self.catalog)/ContractConfiguration.md")
        try readFixtures()
    }

    private mutating func readFixtures() throws {
        for file in try Repository.files(in: "Tests/ContractTests/Fixtures", withExtension: "json") {
            let message = try JSONSerialization.jsonObject(with: Data(file.text.utf8)) as? [String: Any]
            guard let topic = message?["topic"] as? String, let payload = message?["payload"] else { continue }
            let short = topic.replacing(/^vitals2mqtt\/home\/(gateway\/)?/) { $0.output.1 == nil ? "D/" : "B/gateway/" }
                .replacing(/^D\/[^\/]+\//, with: "D/")
            if let known = topics.first(where: { Self.matches(short, $0) }) {
                payloads[known, default: []].append(payload)
            }
        }
    }

    /// What is wrong with a row; empty if everything that it names exists.
    func issues(of row: TraceRow) -> [String] {
        var issues: [String] = []
        if row.places.isEmpty { issues.append("no topic") }
        if row.tests.isEmpty { issues.append("no test") }
        if !row.rest.isEmpty { issues.append("cannot read: \(row.rest)") }
        for place in row.places { issues += self.issues(at: place.topic, place.fields) }
        for test in row.tests where !hasTest(test.name, in: test.suite) {
            issues.append("no test \(test.suite) \(test.name)")
        }
        return issues
    }

    /// A check is a function whose first line is its sentence, and which is in the list of `check.py`.
    private static func homeAssistantChecks() throws -> [String: Set<String>] {
        var checks: [String: Set<String>] = [:]
        let list = try Repository.text("Tests/Campaigns/home-assistant/check.py")
        for file in ["controls", "entities", "life"] {
            let text = try Repository.text("Tests/Campaigns/home-assistant/\(file).py")
            for match in text.matches(of: /(?m)^def (\w+)\(trial: Trial\) -> str:\n    """(.*)"""$/)
            where list.contains("\(file).\(match.1),") {
                checks["HomeAssistant.\(file)", default: []].insert(String(match.2))
            }
        }
        return checks
    }

    private func hasTest(_ name: String, in suite: String) -> Bool {
        if let sentences = checks[suite] { return sentences.contains(name) }
        guard let text = suites[suite], let place = text.range(of: "func `\(name)`(") else { return false }
        // Between the end of the previous declaration and this one there must be a `@Test`.
        let before = text[..<place.lowerBound]
        let start = before.range(of: "\n\n", options: .backwards)?.upperBound ?? before.startIndex
        return before[start...].contains("@Test")
    }

    private func issues(at topic: String, _ fields: [String]) -> [String] {
        guard let known = topics.first(where: { Self.matches(topic, $0) }) else { return ["no topic \(topic)"] }
        if known.hasSuffix("/command/<name>") {
            let name = topic.split(separator: "/").last.map(String.init) ?? ""
            guard let row = commands[name] else { return ["no command \(name)"] }
            let envelope = ["id", "issued_at", "expires_at"].filter { commands[$0] != nil }
            return fields.filter { !row.contains("`\($0)`") && !envelope.contains($0) }
                .map { "\(topic) takes no \($0)" }
        }
        // `config/set` accepts a part of the published configuration, and the members common to all commands.
        let source = known == "D/config/set" ? "D/config" : known
        return fields.filter { field in
            let path = field.split(separator: ".").map(String.init)
            let isThere = (payloads[source] ?? []).contains { Self.has(path[...], in: $0) }
            return !isThere && !(known == "D/config/set" && configuration.contains("| `\(field)` |"))
        }.map { "\(topic) has no \($0)" }
    }

    /// Whether a topic matches a pattern with `<placeholders>`. A pattern matches itself, too.
    private static func matches(_ topic: String, _ pattern: String) -> Bool {
        let (parts, wanted) = (topic.split(separator: "/"), pattern.split(separator: "/"))
        return parts.count == wanted.count && zip(parts, wanted).allSatisfy { $0 == $1 || $1.hasPrefix("<") }
    }

    /// Whether a document contains a path of members at any level.
    private static func has(_ path: ArraySlice<String>, in value: Any) -> Bool {
        if let members = value as? [String: Any] {
            return leads(path, from: members) || members.values.contains { has(path, in: $0) }
        }
        return (value as? [Any] ?? []).contains { has(path, in: $0) }
    }

    private static func leads(_ path: ArraySlice<String>, from value: Any) -> Bool {
        guard let first = path.first else { return true }
        if let members = value as? [String: Any] {
            return members[first].map { leads(path.dropFirst(), from: $0) } ?? false
        }
        return (value as? [Any] ?? []).contains { leads(path, from: $0) }
    }
}
