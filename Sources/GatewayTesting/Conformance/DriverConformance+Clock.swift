import GatewayKit
import Vitals

extension DriverConformance {
    /// An offset from UTC, in minutes, that no other place has: Kathmandu's. Who leaves it out or adds it twice is found.
    static let unusualOffset = 345
    /// How exact a device's clock is: many count seconds.
    static let clockResolution = Duration.seconds(1)

    /// A clock must be set to the time that it is told, or be refused as unsupported.
    package func checkClock() async -> [String] {
        await session("clock") { session, peer, findings in
            let clock = session.description.clock
            let wanted = (clock?.now ?? self.clock.now) + .days(1)
            guard self.expectation.hasSettableClock ?? (clock != nil) else {
                await findings.expect([.unsupported], "setting the clock") {
                    try await self.inTime("setting the clock") {
                        try await session.setClock(wanted, utcOffset: Self.unusualOffset)
                    }
                }
                return
            }
            try await self.inTime("setting the clock") {
                try await session.setClock(wanted, utcOffset: Self.unusualOffset)
            }
            await self.expectTold("the time and its offset from UTC", peer, findings) { told in
                told.contains { fact in
                    guard case .clock(let time, let offset) = fact else { return false }
                    return abs((time - wanted).inMilliseconds) <= Self.clockResolution.inMilliseconds
                        && offset ?? Self.unusualOffset == Self.unusualOffset
                }
            }
        }
    }
}
