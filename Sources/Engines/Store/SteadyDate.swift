package import Vitals

/// Watches whether the machine's clock can be trusted so far that something may be dropped because it is old.
///
/// A small board has no clock of its own: it may start in the past or, with a broken one, in the future, and is set when it
/// finds the network. By a date that is wrong for a minute everything would be too old.
package struct SteadyDate: Sendable {
    /// For how long the date has to agree with the steady clock, from the start and from each time it was set.
    package static let trial: Duration = .hours(1)
    /// The date counts as set where it moved by so much more or less than the steady clock since the last look.
    package static let tolerance: Duration = .minutes(1)

    private var last: (date: Timestamp, uptime: Duration)?
    private var since: Duration?

    package init() {}

    /// Looks at the clocks. Returns whether the date has been steady for long enough.
    package mutating func isTrusted(at date: Timestamp, uptime: Duration) -> Bool {
        if let last, abs((date - last.date) - (uptime - last.uptime)) > Self.tolerance { since = uptime }
        last = (date, uptime)
        let begin = since ?? uptime
        since = begin
        return uptime - begin >= Self.trial
    }
}

private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
