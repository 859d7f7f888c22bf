import Foundation
import Testing

/// The parts in which `deploy/test` runs the tests.
@Suite struct TimeLimitRules {
    /// Suites that hold the thread that they have, or wait for a process that only computes. Their limit only ends a test that hangs.
    private static let computing: Set = [
        "EnginesTests.AgentRefusalTests", "PhonesTests.DocumentMemoryTests",
    ]

    /// The regular expressions of the parts that do not compute.
    private static func patterns() throws -> [Regex<AnyRegexOutput>] {
        let script = try Repository.text("Tests/run")
        return try script.matches(of: #/(?m)^(?:servers|programs|storms|timed)\+?='\|?([^']+)'/#)
            .map { try Regex(String($0.1)) }
    }

    /// The suites of a file that have a limit of time, or a test with one.
    static func limitedSuites(in text: String) -> Set<String> {
        Set(
            text.ranges(of: ".timeLimit(").map { limit in
                let type = #/(?:struct|class|actor|enum|extension) (\w+)/#
                let before = text[..<limit.lowerBound]
                let last = before.matches(of: type).last
                guard let suite = before.ranges(of: "@Suite").last,
                    last.map({ $0.range.lowerBound < suite.lowerBound }) ?? true
                else {
                    // A test outside of any suite matches no part.
                    return last.map { String($0.1) } ?? "?"
                }
                return text[limit.upperBound...].firstMatch(of: type).map { String($0.1) } ?? "?"
            })
    }

    private static func target(of path: String) -> String? {
        let folders = path.split(separator: "/").map(String.init)
        if folders.first == "Tests" { return folders[1] }
        return folders.count > 3 && folders[2] == "Tests" ? folders[1] + "Tests" : nil
    }

    @Test func `what has a limit of time does not run beside what computes`() throws {
        // A waiting test needs a thread of Swift's pool many times. If another test computes on it for seconds, each time is late.
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
        ("extension A {\n    @Test(.timeLimit(.minutes(1))) func a() {}\n}", ["A"]),
        ("@Test(.timeLimit(.minutes(1))) func a() {}", ["?"]), ("@Suite struct A { @Test func a() {} }", []),
    ]) func `the suite of every limit is found`(text: String, suites: [String]) {
        #expect(Self.limitedSuites(in: text) == Set(suites))
    }
}
