import Vitals

extension GatewayClock {
    /// The system's time, so many times as fast.
    static func scaled(by speed: Double) -> GatewayClock {
        let clock = ScaledClock(speed: speed)
        return GatewayClock(date: { Timestamp(milliseconds: 0) }, steady: clock, steadyNow: { clock.now.offset })
    }
}

/// A clock that is faster or slower than the system's.
private struct ScaledClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }
    let speed: Double
    private let start = ContinuousClock.now

    init(speed: Double) { self.speed = speed }

    var now: Instant { Instant(offset: start.duration(to: .now) * speed) }
    var minimumResolution: Duration { .milliseconds(1) }
    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(until: start + deadline.offset / speed, tolerance: .zero)
    }
}
