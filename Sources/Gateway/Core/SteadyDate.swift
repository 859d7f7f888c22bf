package import Vitals

/// Checks whether the machine's clock is reliable enough to drop data because of its age.
///
/// A small board has no clock of its own: it may start in the past or, with a broken clock, in the future, and is set
/// once it finds the network. One minute with a wrong date would make all data too old.
package struct SteadyDate: Sendable {
    /// How long the date must agree with the steady clock, after the start and after each time it is set.
    package static let trial: Duration = .hours(1)
    /// The date counts as set if it differs this much from the steady clock since the last check.
    package static let tolerance: Duration = .minutes(1)

    private var last: (date: Timestamp, uptime: Duration)?
    private var since: Duration?

    package init() {}

    /// Checks the clocks. Returns whether the date has been steady long enough.
    package mutating func isTrusted(at date: Timestamp, uptime: Duration) -> Bool {
        if let last, abs((date - last.date) - (uptime - last.uptime)) > Self.tolerance { since = uptime }
        last = (date, uptime)
        let begin = since ?? uptime
        since = begin
        return uptime - begin >= Self.trial
    }
}

private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
