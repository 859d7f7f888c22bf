/// How long to wait before the next attempt to connect: a time that doubles with each failure, so that what is away costs
/// little, with jitter, so that those who wait for the same thing do not all come at once.
package struct BackOff: Sendable, Hashable {
    /// The longest wait after the first failure.
    package let first: Duration
    /// The longest wait of all.
    package let longest: Duration
    private var ceiling: Duration

    /// A back-off from `first` to `longest`.
    package init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
        ceiling = min(first, longest)
    }

    /// The wait after one more failure: between a half and the whole of a time that doubles with each failure.
    package mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        let wait = ceiling * Double.random(in: 0.5...1, using: &generator)
        ceiling = min(ceiling * 2, longest)
        return wait
    }

    /// Begins anew, after a connection that was good.
    package mutating func reset() { ceiling = min(first, longest) }
}
