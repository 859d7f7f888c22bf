/// How long to wait before the next attempt to connect: doubling, with jitter so that the clients of a broker that
/// comes back do not all come at once.
package struct ReconnectBackOff: Sendable, Hashable {
    /// The longest wait after the first failure.
    package var initial: Duration
    /// The longest wait of all.
    package var maximum: Duration
    private var ceiling: Duration

    /// A back-off from `initial` to `maximum`; 1 s to 60 s by default.
    package init(initial: Duration = .seconds(1), maximum: Duration = .seconds(60)) {
        self.initial = initial
        self.maximum = maximum
        self.ceiling = min(initial, maximum)
    }

    /// The wait after one more failure: between a half and the whole of a time that doubles with each failure.
    package mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        let wait = ceiling * Double.random(in: 0.5...1, using: &generator)
        ceiling = min(ceiling * 2, maximum)
        return wait
    }

    /// Begins anew, after a connection that was good.
    package mutating func reset() { ceiling = min(initial, maximum) }
}
