import GatewayKit
import Vitals

extension DriverConformance {
    /// An offset from UTC, in minutes, that no other place has: Kathmandu's. It exposes a driver that omits the offset
    /// or adds it twice.
    static let unusualOffset = 345
    /// The accuracy required of a device's clock: many devices count whole seconds.
    static let clockResolution = Duration.seconds(1)

    /// How far a clock that was set right may be off in the next session: its resolution, and the delay of the call.
    static let clockTolerance = Duration.seconds(2)

    /// Checks that a clock is right which the session before has set right.
    func checkRightClock() async -> [Violation] {
        let start = clock.now
        return await session(.clock) { session, _, violations in
            guard let shown = session.description.clock?.now else { return }
            let right = start - Self.clockTolerance...self.clock.now + Self.clockTolerance
            violations.expect(
                right.contains(shown),
                "the clock was set right, but shows \(shown) in the next session; it is \(self.clock.now).")
        }
    }

    /// Checks that a clock takes the time it is set to, or that setting it is refused as unsupported.
    func checkClock() async -> [Violation] {
        await session(.clock) { session, peer, violations in
            let clock = session.description.clock
            let wanted = (clock?.now ?? self.clock.now) + .days(1)
            guard self.expectation.hasSettableClock ?? (clock != nil) else {
                try await violations.expect([.unsupported], "setting the clock") {
                    try await self.inTime("setting the clock") {
                        try await session.setClock(wanted, utcOffset: Self.unusualOffset)
                    }
                }
                return
            }
            try await self.inTime("setting the clock") {
                try await session.setClock(wanted, utcOffset: Self.unusualOffset)
            }
            await self.expectCall("the time and its offset from UTC", peer, violations) { deviceCalls in
                deviceCalls.contains { fact in
                    guard case .clock(let time, let offset) = fact else { return false }
                    return abs((time - wanted).inMilliseconds) <= Self.clockResolution.inMilliseconds
                        && offset ?? Self.unusualOffset == Self.unusualOffset
                }
            }
        }
    }
}
