/// Waits between attempts to connect. They double with each failure, so that an absent peer costs little, and have
/// jitter, so that many clients do not come back at once.
package struct BackOff: Sendable, Hashable {
    /// Maximum of the wait after the first failure.
    package let first: Duration
    /// Maximum of all waits.
    package let longest: Duration
    private var ceiling: Duration

    /// A back-off from `first` to `longest`.
    package init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
        ceiling = min(first, longest)
    }

    /// The wait after one more failure: from half of a maximum, which doubles with each failure, to all of it.
    package mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        let wait = ceiling * Double.random(in: 0.5...1, using: &generator)
        ceiling = min(ceiling * 2, longest)
        return wait
    }

    /// Starts again with `first`, after a good connection.
    package mutating func reset() { ceiling = min(first, longest) }
}
