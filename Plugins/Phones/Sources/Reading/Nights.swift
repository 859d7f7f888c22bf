import Vitals

/// Makes sleeps of stages that come one by one, such as those of HealthKit, which has no record of a night.
///
/// Stages of one source with less than `gap` between them are one sleep. Where they overlap, the earlier one counts.
struct Nights {
    /// The time without a stage after which another sleep begins.
    static let gap: Duration = .hours(1)
    /// The most sources that are told apart; an app has one per wearable.
    static let maximumSources = 100

    private var sources: [String: Int] = [:]
    private var stages: [Int: [Sleep.Stage]] = [:]

    var isEmpty: Bool { stages.isEmpty }

    /// Adds a stage of a source.
    mutating func add(_ stage: Sleep.Stage, source: String?) {
        let name = source ?? ""
        let number = sources[name] ?? min(sources.count, Self.maximumSources)
        if number < Self.maximumSources { sources[name] = number }
        stages[number, default: []].append(stage)
    }

    /// The sleeps of all stages so far, by source and time. Afterwards there are none.
    mutating func removeAll() -> [Sample] {
        defer { self = Nights() }
        return stages.sorted { $0.key < $1.key }.flatMap { Self.sleeps(of: $0.value) }
    }

    private static func sleeps(of stages: [Sleep.Stage]) -> [Sample] {
        var sleeps: [Sample] = []
        var night: [Sleep.Stage] = []
        for stage in stages.sorted(by: { ($0.start, $0.end) < ($1.start, $1.end) }) {
            var stage = stage
            if let last = night.last {
                if stage.start - last.end > gap {
                    sleeps += [Sample(stages: night)].compactMap(\.self)
                    night = []
                } else {
                    stage.start = max(stage.start, last.end)
                }
            }
            if stage.start < stage.end { night.append(stage) }
        }
        return sleeps + [Sample(stages: night)].compactMap(\.self)
    }
}

extension Sample {
    /// A sleep from the first to the last of these stages; `nil` without any.
    init?(stages: [Sleep.Stage]) {
        guard let first = stages.first, let last = stages.last else { return nil }
        self.init(metric: .sleep, start: first.start, end: last.end, reading: .sleep(Sleep(stages: stages)))
    }
}
