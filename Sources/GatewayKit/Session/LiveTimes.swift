package import Vitals

/// The times of live values that a device sends without a time: when each arrives, and no two alike.
///
/// A sample's `id` is made of its metric and its start, so that two values of one moment would be one sample with a revision. A radio that
/// missed some of its turns hands over several at once.
package struct LiveTimes: Sendable {
    /// The most by which a time is later than the arrival: all values that may wait (`GATTValueQueue.capacity`), a millisecond each. A
    /// greater difference is a clock that was set back.
    package static let greatestLead: Duration = .seconds(5)

    private var last: Timestamp?

    /// Times of a new session.
    package init() {}

    /// The time of a value that arrives now.
    package mutating func time(at now: Timestamp) -> Timestamp {
        var time = now
        if let last, now <= last, last - now < Self.greatestLead { time = last + .milliseconds(1) }
        last = time
        return time
    }
}
