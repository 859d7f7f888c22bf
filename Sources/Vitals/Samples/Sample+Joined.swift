/// Sessions of sleep that are parts of one sleep.
package enum SleepSessions {
    /// How far the end of a session and the beginning of the next one may be apart for both to be one sleep: clocks and apps round to a
    /// minute, and nobody gets up and falls asleep again within one.
    package static let touch: Duration = .minutes(1)
    /// The longest sleep that sessions are joined to. Longer ones stay apart: a wearable in a drawer counts as asleep for days.
    package static let longest: Duration = .days(1)
}

extension Sample {
    /// Both sessions of one app as one sleep, from the start of this one to the end of the next one; `nil` if they do not touch
    /// within `SleepSessions.touch`, or would have more time or stages than a sleep may have. Where they overlap, the earlier stage
    /// counts. A session without stages leaves its time without one. The sleep changed when the last of its sessions did, if all say so.
    package func joined(with next: Sample) -> Sample? {
        guard case .sleep(let sleep) = reading, case .sleep(let following) = next.reading,
            next.start >= end - SleepSessions.touch, next.start <= end + SleepSessions.touch,
            max(end, next.end) - start <= SleepSessions.longest, user == next.user,
            isUserInitiated == next.isUserInitiated,
            sleep.stages.count + following.stages.count <= SampleLimits.stages
        else { return nil }
        var stages = sleep.stages
        for var stage in following.stages {
            if let last = stages.last { stage.start = max(stage.start, last.end) }
            guard stage.start < stage.end else { continue }
            if let last = stages.last, last.depth == stage.depth, last.end == stage.start {
                stages[stages.count - 1].end = stage.end
            } else {
                stages.append(stage)
            }
        }
        var joined = self
        joined.end = max(end, next.end)
        joined.changedAt = changedAt.flatMap { ours in next.changedAt.map { max(ours, $0) } }
        joined.reading = .sleep(
            Sleep(stages: stages, untimed: sleep.untimed.merging(following.untimed) { $0.saturatingSum($1) }))
        return joined
    }
}

extension [Sleep.Stage] {
    /// These stages of a session, ascending. If none of them is asleep, the rest of the session is, at an unknown depth: a session of Health
    /// Connect says that the person slept, and its `SLEEP_DURATION_TOTAL` leaves out only the stages that are awake. Gaps of up to
    /// `SleepSessions.touch` beside stages are roundings.
    package func completed(from start: Timestamp, to end: Timestamp) -> [Sleep.Stage] {
        // With twice as many, all are within the limit.
        guard !contains(where: { $0.depth.isAsleep }), count < SampleLimits.stages / 2 else { return self }
        var result: [Sleep.Stage] = []
        var last = start
        func fill(to next: Timestamp) {
            guard next - last > (isEmpty ? .zero : SleepSessions.touch) else { return }
            result.append(Sleep.Stage(.asleep, from: last, to: next))
        }
        for stage in self {
            fill(to: stage.start)
            result.append(stage)
            last = Swift.max(last, stage.end)
        }
        fill(to: end)
        return result
    }
}
