package import Vitals

/// A row with a stage of sleep, as a wearable keeps it.
package struct StageRow: Sendable, Hashable {
    package var moment: Timestamp
    /// `nil` for a code without a known meaning: the time passes, and nothing is said of it.
    package var depth: Sleep.Stage.Depth?
    /// How long it lasts, where the row says so.
    package var length: Duration

    package init(moment: Timestamp, depth: Sleep.Stage.Depth? = nil, length: Duration = .zero) {
        self.moment = moment
        self.depth = depth
        self.length = length
    }
}

/// How long the stage of a row lasts.
package enum StageLength: Sendable, Hashable {
    /// Until the next row, and the last one until the end of the session.
    case untilNext
    /// From the row before, the first one from the start of the session.
    case sincePrevious
    /// From TIMESTAMP on, as long as the row's DURATION in these units.
    case lasting(Duration)
    /// From TIMESTAMP on, for this time.
    case fixed(Duration)
    /// Up to TIMESTAMP, for this time.
    case fixedBefore(Duration)
}

extension StageLength {
    /// The first moment whose row does not belong to a night that ends here. A row at the end is the last stage where rows give ends,
    /// and none where they give beginnings.
    package func firstAfter(_ end: Timestamp) -> Timestamp { self == .sincePrevious ? end + .milliseconds(1) : end }

    /// The stages of a night's rows, ascending, within the session's bounds where there are any. Those of equal depth that
    /// touch are one.
    package func stages(of rows: [StageRow], from start: Timestamp? = nil, to end: Timestamp? = nil) -> [Sleep.Stage] {
        var stages: [Sleep.Stage] = []
        for (index, row) in rows.enumerated() {
            guard let depth = row.depth else { continue }
            var (from, to) = (row.moment, row.moment)
            switch self {
            case .untilNext: to = index + 1 < rows.count ? rows[index + 1].moment : end ?? row.moment
            case .sincePrevious: from = index > 0 ? rows[index - 1].moment : start ?? row.moment
            case .lasting: to = row.moment + row.length
            case .fixed(let length): to = row.moment + length
            case .fixedBefore(let length): from = row.moment - length
            }
            if let start { from = max(from, start) }
            if let end { to = min(to, end) }
            if let last = stages.last { from = max(from, last.end) }
            guard from < to else { continue }
            if let last = stages.last, last.depth == depth, last.end == from {
                stages[stages.count - 1].end = to
            } else {
                stages.append(Sleep.Stage(depth, from: from, to: to))
            }
        }
        return stages
    }
}
