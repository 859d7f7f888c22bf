import Vitals

/// Makes sleeps of stages that come one by one, such as those of HealthKit, which has no record of a night.
///
/// Stages of one source with less than `gap` between them are one sleep. Where they overlap, the earlier one counts. Only the stages
/// are kept, which take less memory than their text; a sleep is made when it is asked for.
struct Nights {
    /// The time without a stage after which another sleep begins.
    static let gap: Duration = .hours(1)
    /// The most sources that are kept apart; an app has one per wearable.
    static let maximumSources = 100

    private var sources: [String: Int] = [:]
    /// The names of the sources that are kept apart.
    private var names: [String] = []
    /// The stages of each source, in the order of the sources.
    private var stages: [[Sleep.Stage]] = []
    /// The source whose sleeps are being made, and the place of its next stage; `nil` before its stages are sorted.
    private var number = 0
    private var place: Int?

    /// The source of the sleep that was made last; `nil` for none, and for those that share one.
    var source: String? { names.indices.contains(number) && !names[number].isEmpty ? names[number] : nil }

    /// Adds a stage of a source. All stages come before the first sleep is asked for.
    mutating func add(_ stage: Sleep.Stage, source: String?) {
        let name = source ?? ""
        let number = sources[name] ?? min(sources.count, Self.maximumSources)
        if number == sources.count, number < Self.maximumSources {
            sources[name] = number
            names.append(name)
        }
        while stages.count <= number { stages.append([]) }
        stages[number].append(stage)
    }

    /// The next sleep, by source and time; `nil` after the last one.
    mutating func next() -> Sample? {
        while number < stages.count {
            if let sleep = nextOfSource() { return sleep }
            stages[number] = []
            (number, place) = (number + 1, nil)
        }
        return nil
    }

    private mutating func nextOfSource() -> Sample? {
        if place == nil { stages[number].sort { ($0.start, $0.end) < ($1.start, $1.end) } }
        var place = place ?? 0
        defer { self.place = place }
        var night: [Sleep.Stage] = []
        var end: Timestamp?
        while place < stages[number].count {
            var stage = stages[number][place]
            if let end {
                if stage.start - end > Self.gap { break }
                stage.start = max(stage.start, end)
            }
            place += 1
            guard stage.start < stage.end else { continue }
            end = stage.end
            // More than a sleep may have make it implausible; they need no memory.
            if night.count <= SampleLimits.stages { night.append(stage) }
        }
        return Sample(stages: night)
    }
}

extension Sample {
    /// A sleep from the first to the last of these stages; `nil` without any.
    init?(stages: [Sleep.Stage]) {
        guard let first = stages.first, let last = stages.last else { return nil }
        self.init(metric: .sleep, start: first.start, end: last.end, reading: .sleep(Sleep(stages: stages)))
    }
}
