import Testing

/// Checks that a metric is a row: its specifics are in tables, and no other code distinguishes metrics.
@Suite struct MetricRules {
    /// Metrics whose names are also those of cases of a reading or an event.
    private static let shared: Set<Substring> = ["bloodPressure", "steps", "sleep", "sport", "battery"]

    /// The Swift names of all metrics.
    private static func metrics() throws -> [Substring] {
        let file = try #require(
            try Repository.swiftFiles(in: "Sources/Vitals").first { $0.path.hasSuffix("/Metrics/Metric.swift") })
        let rows = file.text.matches(of: /public static let (\w+) = Metric\(index: (\d+)\)/)
        try #require(!rows.isEmpty && rows.map { Int($0.2) } == Array(0..<rows.count), "the file has another form")
        return rows.map(\.1)
    }

    /// A case of a switch over metrics.
    private static func pattern() throws -> Regex<AnyRegexOutput> {
        let names = try metrics().filter { !shared.contains($0) }.joined(separator: "|")
        return try Regex(#"case (?:[^:]*[ (])?\.(?:\#(names))\b"#)
    }

    /// The drivers of single models and apps. Each metric has its own message there, so they may.
    private static let drivers = ["Plugins/ColmiRing/", "Plugins/O2Ring/", "Plugins/Phones/"]

    @Test func `nothing but a driver of one model or app switches over metrics`() throws {
        let files = try Repository.sources()
        let pattern = try Self.pattern()
        var count = 0
        for file in files
        where !file.path.contains("/Tests/") && !Self.drivers.contains(where: { file.path.contains($0) }) {
            count += 1
            for line in file.text.split(separator: "\n") where line.contains("case ") && line.contains(pattern) {
                Issue.record("\(file): \(line.drop { $0 == " " })")
            }
        }
        #expect(count > 200)
    }

    /// Asks which metric it is. A plugin knows its device, and may.
    private static func comparison() throws -> Regex<AnyRegexOutput> {
        try Regex(#"(?:etric|self) (?:==|!=) \.(?:\#(metrics().joined(separator: "|")))\b"#)
    }

    @Test func `nothing but a plugin asks which metric it is`() throws {
        let comparison = try Self.comparison()
        for file in try Repository.sources()
        where !["Plugins/", "Tests/Benchmarks/"].contains(where: file.path.hasPrefix) {
            for line in file.text.split(separator: "\n")
            where (line.contains("==") || line.contains("!=")) && line.contains(comparison) {
                Issue.record("\(file): \(line.drop { $0 == " " })")
            }
        }
        #expect("if metric == .sleep {".contains(comparison))
    }

    @Test func `a switch over metrics would be seen`() throws {
        let pattern = try Self.pattern()
        for line in [
            "case .heartRate: 1", "case .steps, .stress:", "case .bloodGlucose, .weight: 2",
            "case (.bloodOxygen, .value(let value)):",
        ] {
            #expect(line.contains(pattern))
        }
        #expect(!"case .steps(let steps): 1".contains(pattern))
    }
}
