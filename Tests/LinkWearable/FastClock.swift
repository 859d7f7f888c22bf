import GatewayKit
import Vitals

/// A clock that runs sixty times as fast as real time: inflating a cuff takes forty seconds, too long for a test.
struct FastClock: Clock, Sendable {
    static let speed = 60

    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
    }

    private let start = ContinuousClock.now

    var now: Instant { Instant(offset: start.duration(to: .now) * Self.speed) }
    var minimumResolution: Duration { ContinuousClock().minimumResolution }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(until: start.advanced(by: deadline.offset / Self.speed), tolerance: tolerance)
    }

    /// The clocks of a wearable whose session begins at noon.
    var gatewayClock: GatewayClock {
        GatewayClock(date: { Wearable.noon + now.offset }, steady: self, steadyNow: { now.offset })
    }
}
