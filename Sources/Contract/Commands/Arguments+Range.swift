import Vitals

extension Arguments {
    /// Reads `from` and `to`. If they contradict each other, the error is reported at `to`.
    /// - Parameter now: if given, neither may be in the future.
    mutating func range(now: Timestamp?) -> (from: Timestamp?, to: Timestamp?) {
        let from = moment("from")
        let to = moment("to")
        if let now {
            let latest = now + CommandLimits.clockTolerance
            if let from, from > latest { refuse("from", "must not be in the future") }
            if let to, to > latest { refuse("to", "must not be in the future") }
        }
        if let from, let to, to <= from { refuse("to", "must be after from") }
        return (from, to)
    }

    /// Reads `from_day` and `to_day`. The last day defaults to today, the first to the last.
    mutating func days(today: LocalDay) -> (from: LocalDay, to: LocalDay) {
        let givenFrom = day("from_day")
        let givenTo = day("to_day")
        let to = givenTo ?? today
        let from = givenFrom ?? to
        if to < from {
            refuse("to_day", "must be from_day or later; without to_day it is today")
        } else if to.number - from.number >= CommandLimits.days {
            refuse("to_day", "must be at most \(CommandLimits.days - 1) days after from_day")
        }
        return (from, to)
    }
}
