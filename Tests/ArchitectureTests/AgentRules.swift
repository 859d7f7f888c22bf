import Testing

/// The rules for the parts of the device agent: small and independent.
@Suite struct AgentRules {
    private static let folder = "Sources/Engines/Device"
    /// An agent only routes. Any property beyond this limit belongs to a part.
    private static let maximumOfAgent = 15
    private static let maximumOfPart = 8

    /// The parts, each with the siblings passed to it.
    private static let parts: [String: Set<String>] = [
        "TickTimer": [], "RetryTimer": [], "DeviceConnection": ["RetryTimer"], "DeviceProfile": [],
        "SharedProjection": [],
        "WearTracker": [],
        "SampleIngest": ["DeviceProfile", "SharedProjection", "WearTracker"],
        "LiveIngest": ["SampleIngest"], "DailySummaryTracker": ["DeviceProfile", "SharedProjection"], "SyncQueue": [],
        "HistorySync": ["SyncQueue", "SampleIngest", "DailySummaryTracker"],
        "MonitorSync": ["DeviceProfile", "SampleIngest"],
        "Measuring": ["DeviceProfile", "SampleIngest", "DeviceConnection"],
        "CommandLane": ["DeviceProfile", "SharedProjection", "DeviceConnection"],
    ]

    /// The stored properties of a type: each `let` or `var` at the first level of indentation that is not computed.
    private static func storedProperties(of type: String) throws -> [(name: String, text: Substring)] {
        storedProperties(of: type, in: try Repository.text("\(folder)/\(type).swift"))
    }

    private static func storedProperties(of type: String, in text: String) -> [(name: String, text: Substring)] {
        var isInside = false
        var found: [(String, Substring)] = []
        for line in text.split(separator: "\n") {
            if ["actor", "class", "struct"].contains(where: {
                line.contains("\($0) \(type) ") || line.contains("\($0) \(type):")
            }) {
                isInside = true
            }
            // A regular expression is slow; only members of the type itself can match.
            guard isInside, !line.hasPrefix("     ") else { continue }
            if line == "}" { break }
            let pattern =
                #/^    (?:(?:@\w+(?:\([^)]*\))?|(?:package|public|internal|private|fileprivate)(?:\(set\))?|nonisolated(?:\(unsafe\))?|weak|lazy|unowned(?:\(\w+\))?) )*(?:let|var) (\w+)(.*)$/#
            guard let match = line.firstMatch(of: pattern) else { continue }
            let rest = match.2
            // A brace before any `=` begins the body of a computed property, or an observer of a stored one.
            let isComputed = rest.prefix { $0 != "=" }.contains("{") && !rest.contains("didSet")
            if !isComputed { found.append((String(match.1), line)) }
        }
        return found
    }

    @Test func `the agent only routes`() throws {
        let properties = try Self.storedProperties(of: "DeviceAgent")
        #expect(properties.count > 5)
        #expect(properties.count <= Self.maximumOfAgent, "\(properties.map(\.name))")
    }

    /// What all parts get: a class only so that it exists once for each agent.
    private static let surroundings: Set = ["DeviceContext"]

    /// It holds no state but the agent's end, so one property more than a part may have is no second idea.
    private static let maximumOfSurroundings = 9

    @Test func `what all parts get is small`() throws {
        let properties = try Self.storedProperties(of: "DeviceContext")
        #expect(properties.count > 5)
        #expect(properties.count <= Self.maximumOfSurroundings, "\(properties.map(\.name))")
    }

    @Test(arguments: [
        "    var x = 1", "    private(set) var x: Int", "    fileprivate let x: Int", "    weak var x: Part?",
        "    lazy var x = Part()", "    @Indirect private var x: Part?", "    nonisolated(unsafe) var x = 1",
        "    public private(set) var x: Int", "    var x: Int { didSet { y() } }",
    ]) func `every form of a stored property is seen`(line: String) {
        #expect(Self.storedProperties(of: "T", in: "final class T {\n\(line)\n}").map(\.name) == ["x"])
    }

    @Test func `a computed property is not stored`() {
        let text = "final class T {\n    var x: Int { 1 }\n    static let y = 1\n}"
        #expect(Self.storedProperties(of: "T", in: text).isEmpty)
    }

    @Test func `every class of the folder is a part`() throws {
        let classes = try Repository.swiftFiles(in: Self.folder).flatMap { file in
            file.text.matches(of: #/(?m)^(?:(?:package|public) )?final class (\w+)/#).map { String($0.1) }
        }
        #expect(Set(classes) == Self.surroundings.union(Self.parts.keys))
    }

    @Test(arguments: parts.keys.sorted()) func `a part is small, and knows no more than it is given`(part: String)
        throws
    {
        let properties = try Self.storedProperties(of: part)
        #expect(!properties.isEmpty)
        #expect(properties.count <= Self.maximumOfPart, "\(part) has \(properties.map(\.name))")
        let siblings = Set(Self.parts.keys).filter { name in
            properties.contains { $0.text.contains(": \(name)") || $0.text.contains(": any \(name)") }
        }
        #expect(siblings == Self.parts[part] ?? [], "\(part)")
    }
}
