import Foundation
import Testing

/// The parts in which `deploy/test` runs the tests.
@Suite struct TimeLimitRules {
    /// Suites that hold the thread that they have, or wait for a process that only computes: their limit of time ends what would
    /// not end, and nothing beside them makes them late.
    private static let computing: Set = [
        "EnginesTests.AgentRefusalTests", "HomeAssistantStatisticsTests.StatisticRowTests",
        "PhonesTests.DocumentMemoryTests",
    ]

    /// The regular expressions of the parts that do not compute.
    private static func patterns() throws -> [Regex<AnyRegexOutput>] {
        let script = try Repository.text("deploy/test")
        return try script.matches(of: #/(?m)^(?:servers|programs|storms|timed)\+?='\|?([^']+)'/#)
            .map { try Regex(String($0.1)) }
    }

    /// The suites of a file that have a limit of time, or a test with one.
    static func limitedSuites(in text: String) -> Set<String> {
        Set(
            text.ranges(of: ".timeLimit(").compactMap { limit in
                let before = text[..<limit.lowerBound]
                let types = before.matches(of: #/(?:struct|class|actor) (\w+)/#)
                let suite = before.ranges(of: "@Suite").last
                guard let suite, types.last.map({ $0.range.lowerBound < suite.lowerBound }) ?? true else {
                    return types.last.map { String($0.1) }
                }
                return text[limit.upperBound...].firstMatch(of: #/(?:struct|class|actor) (\w+)/#).map { String($0.1) }
            })
    }

    private static func target(of path: String) -> String? {
        let folders = path.split(separator: "/").map(String.init)
        if folders.first == "Tests" { return folders[1] }
        return folders.count > 3 && folders[2] == "Tests" ? folders[1] + "Tests" : nil
    }

    @Test func `what has a limit of time does not run beside what computes`() throws {
        // A thread of Swift's pool that computes for seconds makes every waiting test late, of which each has many turns.
        let patterns = try Self.patterns()
        #expect(patterns.count == 5)
        var seen: Set<String> = []
        for file in try ["Tests", "Plugins"].flatMap({ try Repository.swiftFiles(in: $0) }) {
            guard let target = Self.target(of: file.path), target != "ArchitectureTests" else { continue }
            seen.formUnion(Self.limitedSuites(in: file.text).map { "\(target).\($0)" })
        }
        #expect(seen.count > 80)
        let late = seen.filter { suite in !patterns.contains { suite.firstMatch(of: $0) != nil } }
        #expect(late == Self.computing)
    }

    @Test(arguments: [
        ("@Suite(.timeLimit(.minutes(2))) struct A {}\nstruct B {}", ["A"]),
        ("@Suite struct B {}\n@Suite(\n    .serialized, .timeLimit(.minutes(1)))\nstruct A {}", ["A"]),
        ("@Suite struct A { @Test(.timeLimit(.minutes(1))) func `is a struct of B`() {} }\nstruct C {}", ["A"]),
        ("@Suite struct A { @Test func a() {} }", []),
    ]) func `the suite of every limit is found`(text: String, suites: [String]) {
        #expect(Self.limitedSuites(in: text) == Set(suites))
    }
}
