import Vitals

extension GatewayClock {
    /// The system's time, a hundred times as fast.
    static var hundredfold: GatewayClock {
        let clock = FastClock()
        return GatewayClock(date: { Timestamp(milliseconds: 0) }, steady: clock, steadyNow: { clock.now.offset })
    }
}

/// A clock that is a hundred times as fast as the system's.
private struct FastClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }
    private let start = ContinuousClock.now

    var now: Instant { Instant(offset: start.duration(to: .now) * 100) }
    var minimumResolution: Duration { .milliseconds(1) }
    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(until: start + deadline.offset / 100, tolerance: .zero)
    }
}
