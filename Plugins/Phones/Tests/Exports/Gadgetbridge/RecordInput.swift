import Vitals

@testable import Phones

/// Invariants of the parsers of an export's single fields, for any bytes. The fuzzer checks them with endless
/// inputs, the tests with mutations by seeds and with those that once failed.
enum RecordInput {
    /// The violations after reading these bytes as a record of a night, and as the summary of a workout. A trap is a violation of
    /// its own.
    static func issues(in bytes: [UInt8]) -> [String] { night(bytes) + summary(bytes) }

    private static func night(_ bytes: [UInt8]) -> [String] {
        guard let night = try? HuamiSleepBlob(bytes) else { return [] }
        let sample = Sample(
            metric: .sleep, start: night.start, end: night.end, reading: .sleep(Sleep(stages: night.stages)))
        var issues: [String] = []
        if night.stages.isEmpty || night.start >= night.end { issues.append("a night of nothing") }
        // Its length is for the feed to check, and the year for the gateway.
        let stages = sample.violations.filter { $0.path.hasPrefix("stages") }
        if !stages.isEmpty { issues.append("a night with \(stages)") }
        return issues
    }

    private static func summary(_ bytes: [UInt8]) -> [String] {
        guard let summary = WorkoutSummary(bytes) else { return [] }
        return ["averageHR", "distanceMeters", "steps", "active_calories"].compactMap { key in
            summary.number(key).flatMap { $0.isFinite ? nil : "\(key) is \($0)" }
        }
    }
}
