import Testing

/// Checks that a metric is a row: its specifics are in tables, and no other code distinguishes metrics.
@Suite struct MetricRules {
    /// Metrics with unique names. Others, such as `.steps`, are also cases of a reading or an event.
    private static var pattern: Regex<(Substring, Substring)> {
        #/case (?:[^:]*[ (])?\.(heartRate|restingHeartRate|bloodOxygen|stress|temperature)\b/#
    }

    /// The drivers of single models. Each metric has a message of its own there, so they may.
    private static let drivers = ["Plugins/ColmiRing/", "Plugins/O2Ring/"]

    @Test func `nothing but a driver of one model switches over metrics`() throws {
        let files = try Repository.swiftFiles(in: "Plugins") + Repository.swiftFiles(in: "Sources")
        var count = 0
        for file in files
        where !file.path.contains("/Tests/") && !Self.drivers.contains(where: { file.path.contains($0) }) {
            count += 1
            for line in file.text.split(separator: "\n") where line.contains("case ") && line.contains(Self.pattern) {
                Issue.record("\(file): \(line.drop { $0 == " " })")
            }
        }
        #expect(count > 200)
    }

    /// Asks which metric it is. A plugin knows its device, and may.
    private static var comparison: Regex<(Substring, Substring)> {
        #/(?:etric|self) (?:==|!=) \.(heartRate|restingHeartRate|bloodPressure|bloodOxygen|stress|temperature|steps|sleep|sport|battery)\b/#
    }

    @Test func `nothing but a plugin asks which metric it is`() throws {
        for file in try Repository.swiftFiles(in: "Sources") where !file.path.contains("-bench/") {
            for line in file.text.split(separator: "\n")
            where (line.contains("==") || line.contains("!=")) && line.contains(Self.comparison) {
                Issue.record("\(file): \(line.drop { $0 == " " })")
            }
        }
        #expect("if metric == .sleep {".contains(Self.comparison))
    }

    @Test func `a switch over metrics would be seen`() {
        for line in ["case .heartRate: 1", "case .steps, .stress:", "case (.bloodOxygen, .value(let value)):"] {
            #expect(line.contains(Self.pattern))
        }
        #expect(!"case .steps(let steps): 1".contains(Self.pattern))
    }
}
