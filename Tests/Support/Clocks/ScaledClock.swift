package import Vitals

extension GatewayClock {
    /// The system's time, so many times as fast. The date stands still unless it begins at a moment.
    package static func scaled(by speed: Double, from start: Timestamp? = nil) -> GatewayClock {
        let clock = ScaledClock(speed: speed)
        return GatewayClock(
            date: { start.map { $0 + clock.now.offset } ?? Timestamp(milliseconds: 0) }, steady: clock,
            steadyNow: { clock.now.offset })
    }
}

/// A clock that is faster or slower than the system's.
private struct ScaledClock: Clock {
    let speed: Double
    private let start = ContinuousClock.now

    init(speed: Double) { self.speed = speed }

    var now: TestInstant { TestInstant(offset: start.duration(to: .now) * speed) }
    var minimumResolution: Duration { .milliseconds(1) }
    func sleep(until deadline: TestInstant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(until: start + deadline.offset / speed, tolerance: .zero)
    }
}
