import Testing

/// Checks that the walks of the architecture name the real path of each step, and that its counts are right.
@Suite struct WalkRules {
    private static let page = "docs/Architecture.md"
    /// A table with fewer steps was not parsed correctly.
    private static let leastSteps = 8

    /// A row of a walk's table.
    struct Step {
        let number: Int
        let path: String
        /// The function that the row is about; the row's text begins with it.
        let function: String
        let isCommit: Bool

        /// The folder below `Sources` or `Plugins`.
        var module: String { path.split(separator: "/").prefix(2).joined(separator: "/") }
    }

    /// The numbers of a walk as stated on the page: steps, crossings and commits.
    struct Numbers: Equatable {
        let steps: Int
        let crossings: Int
        let commits: Int
    }

    /// A section of the page with a table of steps.
    struct Walk {
        let title: String
        var said: [Numbers] = []
        var steps: [Step] = []

        /// The numbers counted in the table.
        var counted: Numbers {
            let modules = steps.map(\.module)
            let crossings = zip(modules, modules.dropFirst()).filter { $0.0 != $0.1 }.count
            return Numbers(steps: steps.count, crossings: crossings, commits: steps.filter(\.isCommit).count)
        }
    }

    /// The walks of a page.
    private static func walks(in text: String) -> [Walk] {
        var walks: [Walk] = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix("## ") { walks.append(Walk(title: String(line.dropFirst(3)))) }
            guard !walks.isEmpty else { continue }
            if let said = numbers(in: line) { walks[walks.count - 1].said.append(said) }
            if let step = step(in: line) { walks[walks.count - 1].steps.append(step) }
        }
        return walks.filter { !$0.steps.isEmpty }
    }

    private static func numbers(in line: Substring) -> Numbers? {
        let pattern = #/Now: (\d+) steps, (\d+) module crossings, (\d+) commits/#
        guard let match = line.firstMatch(of: pattern), let steps = Int(match.1), let crossings = Int(match.2),
            let commits = Int(match.3)
        else { return nil }
        return Numbers(steps: steps, crossings: crossings, commits: commits)
    }

    /// A row that begins with a number; its path and its function are in backticks.
    private static func step(in line: Substring) -> Step? {
        let cells = line.split(separator: "|")
        guard line.hasPrefix("|"), cells.count >= 3, let word = cells[0].split(separator: " ").first,
            let number = Int(word)
        else { return nil }
        let path = cells[1].split(separator: "`")
        let text = cells[2].split(separator: "`")
        return Step(
            number: number, path: path.count == 3 ? String(path[1]) : "",
            function: text.count > 2 && text[0] == " " ? String(text[1]) : "",
            isCommit: cells[2].contains("**commit**"))
    }

    private static func walks() throws -> [Walk] { try walks(in: Repository.text(page)) }

    @Test func `there are two walks, each from end to end`() throws {
        let walks = try Self.walks()
        #expect(walks.count == 2)
        for walk in walks {
            #expect(walk.steps.count >= Self.leastSteps, "\(walk.title) has \(walk.steps.count) steps")
            #expect(walk.steps.map(\.number) == Array(1...walk.steps.count), "\(walk.title) is not numbered in order")
        }
    }

    @Test func `a walk says as many steps, crossings and commits as its table has`() throws {
        for walk in try Self.walks() { #expect(walk.said == [walk.counted], "\(walk.title)") }
    }

    @Test func `each step is a function of a file that exists`() throws {
        for walk in try Self.walks() {
            for step in walk.steps {
                let isSource = step.path.hasPrefix("Sources/") || step.path.hasPrefix("Plugins/")
                guard isSource, step.path.hasSuffix(".swift"), Repository.exists(step.path, besides: nil) else {
                    Issue.record("\(walk.title), step \(step.number): there is no file \(step.path)")
                    continue
                }
                let text = try Repository.text(step.path)
                #expect(
                    Self.isDeclared(step.function, in: text),
                    "\(walk.title), step \(step.number): \(step.path) has no \(step.function)")
            }
        }
    }

    /// The steps of the first walk that the page names elsewhere: a number, and the step's function in backticks.
    private static func references(in text: String) -> [(number: Int, function: String)] {
        text.split(separator: "\n").filter { $0.hasPrefix("|") }.flatMap { line in
            line.matches(of: /(\d+) `(\w+)`/).compactMap { match in
                Int(match.1).map { (number: $0, function: String(match.2)) }
            }
        }
    }

    @Test func `the steps that both walks share have their numbers`() throws {
        let first = try #require(try Self.walks().first)
        let references = Self.references(in: try Repository.text(Self.page))
        #expect(references.count > 8)
        for reference in references {
            let step = first.steps.first { $0.number == reference.number }
            #expect(step?.function == reference.function, "step \(reference.number)")
        }
    }

    private static func isDeclared(_ function: String, in text: String) -> Bool {
        if function == "init" { return text.contains("init(") || text.contains("init?(") }
        let forms = ["func \(function)(", "func \(function)<", "var \(function):"]
        return !function.isEmpty && forms.contains { text.contains($0) }
    }

    @Test func `a walk that counts wrongly would be seen`() {
        let walks = Self.walks(
            in: """
                ## One
                Now: 3 steps, 1 module crossings, 1 commits.
                | step | file | what happens |
                | --- | --- | --- |
                | 1 | `Sources/A/X.swift` | `x` begins. |
                | 2 | `Plugins/A/Sources/Y.swift` | `y` ends (**commit**). |
                | 3 | `Plugins/A/Sources/Z.swift` | It has no function. |
                """)
        #expect(walks.count == 1)
        #expect(walks.first?.counted == Numbers(steps: 3, crossings: 1, commits: 1))
        #expect(walks.first?.said == [Numbers(steps: 3, crossings: 1, commits: 1)])
        #expect(walks.first?.steps.map(\.module) == ["Sources/A", "Plugins/A", "Plugins/A"])
        #expect(walks.first?.steps.map(\.number) == [1, 2, 3])
        #expect(walks.first?.steps.map(\.function) == ["x", "y", ""])
        #expect(!Self.isDeclared("", in: "func x() {}"))
        #expect(!Self.isDeclared("y", in: "func x() {}"))
        #expect(Self.isDeclared("x", in: "func x() {}"))
    }
}
