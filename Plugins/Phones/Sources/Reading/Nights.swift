import Vitals

/// Makes sleeps of stages that come one by one, such as those of HealthKit, which has no record of a night.
///
/// Stages of one source with less than `gap` between them are one sleep. Where they overlap, the one that says more counts. Only the
/// stages are kept, which take less memory than their text; a sleep is made when it is asked for.
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
        if place == nil { stages[number].arrange() }
        var place = place ?? 0
        defer { self.place = place }
        var night: [Sleep.Stage] = []
        var end: Timestamp?
        // When it was last known whether the person slept, and the place after that.
        var known: Timestamp?
        var next = place
        while place < stages[number].count {
            let stage = stages[number][place]
            if let end, stage.start - end > Self.gap { break }
            if stage.depth != .inBed {
                // Lying in bed makes no one sleep of two: what lies between them is of neither, unless it ends soon after the first one, or
                // begins soon before the second.
                if let known, stage.start - known > Self.gap {
                    while next < place, stages[number][next].end - known <= Self.gap { next += 1 }
                    night.removeLast(min(place - next, night.count))
                    while place > next, stage.start - stages[number][place - 1].start <= Self.gap { place -= 1 }
                    break
                }
                known = stage.end
                next = place + 1
            }
            place += 1
            end = stage.end
            // More than a sleep may have make it implausible; they need no memory.
            if night.count <= SampleLimits.stages { night.append(stage) }
        }
        return Sample(stages: night)
    }
}

extension [Sleep.Stage] {
    /// Sorts the stages of a source and cuts those that overlap. What says more stays whole: a depth, or awake, before sleep without a
    /// depth, and that before a time in bed. Among equals it is the earlier one.
    fileprivate mutating func arrange() {
        let asleep = filter { $0.depth == .asleep }
        let inBed = filter { $0.depth == .inBed }
        removeAll { $0.depth == .asleep || $0.depth == .inBed }
        cut()
        for var layer in [asleep, inBed] where !layer.isEmpty {
            layer.cut()
            append(contentsOf: layer.parts(beside: self))
            cut()
        }
    }

    /// Sorts, cuts each where the one before it has not ended, and removes what is then empty.
    private mutating func cut() {
        sort { ($0.start, $0.end) < ($1.start, $1.end) }
        var kept = 0
        for place in indices {
            var stage = self[place]
            if kept > 0 { stage.start = Swift.max(stage.start, self[kept - 1].end) }
            guard stage.start < stage.end else { continue }
            self[kept] = stage
            kept += 1
        }
        removeSubrange(kept...)
    }

    /// What others leave of these; both are sorted and cut.
    private func parts(beside others: [Sleep.Stage]) -> [Sleep.Stage] {
        var result: [Sleep.Stage] = []
        var place = 0
        for var rest in self {
            while place < others.count, others[place].start < rest.end {
                let other = others[place]
                if rest.start < other.start {
                    result.append(Sleep.Stage(rest.depth, from: rest.start, to: other.start))
                }
                rest.start = Swift.max(rest.start, other.end)
                // It may reach into the next of these.
                if other.end > rest.end { break }
                place += 1
            }
            if rest.start < rest.end { result.append(rest) }
        }
        return result
    }
}

extension Sample {
    /// A sleep from the first to the last of these stages; `nil` without any.
    init?(stages: [Sleep.Stage]) {
        guard let first = stages.first, let last = stages.last else { return nil }
        self.init(metric: .sleep, start: first.start, end: last.end, reading: .sleep(Sleep(stages: stages)))
    }
}
