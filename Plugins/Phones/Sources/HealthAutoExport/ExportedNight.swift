import Vitals

/// A night of which the app says how long, and not when: its aggregated sleep.
struct ExportedNight {
    /// What a total is of. `total` is all sleep; `asleep` is what has no stage, or in older versions of the app all sleep, too.
    enum Part: Hashable { case total, asleep, core, deep, rem, awake, inBed }

    var start: Timestamp?
    var end: Timestamp?
    var bedStart: Timestamp?
    var bedEnd: Timestamp?
    private var totals: [Part: Double] = [:]

    /// Hours of a unit; a missing one is the app's usual one.
    private static let hours: [String: Double] = ["": 1, "hr": 1, "h": 1, "min": 1.0 / 60, "s": 1.0 / 3600]
    /// The most hours of a total: those of the longest sample.
    private static let most = Double(SampleLimits.duration.inMilliseconds) / 3_600_000

    /// Whether there is no total.
    var isEmpty: Bool { totals.isEmpty }

    mutating func set(_ part: Part, to total: Double?) { totals[part] = total }

    /// The sleep with whole minutes of each depth, or why there is none. Of the time in bed counts what is neither sleep nor awake.
    func record(in unit: String?) -> Record {
        guard let hours = Self.hours[unit?.lowercased() ?? ""] else {
            return .skipped("sleep in the unit \(unit ?? "")")
        }
        guard totals.values.allSatisfy({ (0...Self.most).contains($0 * hours) }) else {
            return .skipped("a sleep whose totals are no hours")
        }
        func minutes(_ part: Part) -> Double { (totals[part] ?? 0) * hours * 60 }
        let inBed = minutes(.inBed)
        // A sleep lies within the time in bed, if that is told.
        let first = inBed > 0 ? [start, bedStart].compactMap { $0 }.min() : start ?? bedStart
        let last = inBed > 0 ? [end, bedEnd].compactMap { $0 }.max() : end ?? bedEnd
        guard let from = first, let to = last, from < to else {
            return .skipped("a sleep without the times of its start and end")
        }
        let staged = minutes(.core) + minutes(.deep) + minutes(.rem)
        var unstaged = minutes(.asleep)
        if minutes(.total) > 0 {
            unstaged = max(minutes(.total) - staged, 0)
        } else if staged + unstaged > Double((to - from).inMilliseconds) / 60_000 + 1 {
            // Both cannot be in this night, so that it is the total.
            unstaged = max(unstaged - staged, 0)
        }
        let rest = inBed - staged - unstaged - minutes(.awake)
        let parts: [(Sleep.Stage.Depth, Double)] = [
            (.light, minutes(.core)), (.deep, minutes(.deep)), (.rem, minutes(.rem)), (.asleep, unstaged),
            (.awake, minutes(.awake)), (.inBed, max(rest, 0)),
        ]
        let untimed = parts.map { ($0, Int($1.rounded())) }.filter { $1 > 0 }
        guard !untimed.isEmpty else { return .skipped("a sleep of no minute") }
        let sleep = Sleep(stages: [], untimed: Dictionary(uniqueKeysWithValues: untimed))
        return .sample(Sample(metric: .sleep, start: from, end: to, reading: .sleep(sleep)))
    }
}
