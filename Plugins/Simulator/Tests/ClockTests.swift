import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Simulator

@Suite struct ClockTests {
    @Test(arguments: [Duration.zero, .seconds(95), .seconds(-7_200), .days(-18_000)])
    func `shows its own time, and records by it, until it is set`(skew: Duration) throws {
        let driver = SimulatorDriver(SimulatorOptions(seed: 3, clockSkew: skew))
        try Setup.play(driver) { setup in
            let clock = try #require(setup.session.description.clock)
            #expect(clock.now == Setup.noon + skew)
            #expect(clock.utcOffset == 60)
            try await setup.pass(.seconds(10))
            let wrong = try #require(setup.samples.last)
            #expect(abs((wrong.end - (Setup.noon + skew)).inMilliseconds) <= 10_000)
            try await setup.session.setClock(setup.simulation.date, utcOffset: 60)
            try await setup.pass(.seconds(70))
            let right = try #require(setup.samples.last)
            #expect(abs((right.end - setup.simulation.date).inMilliseconds) <= 1_000)
        }
        try Setup.play(driver, at: Setup.noon + .days(1)) { setup in
            #expect(setup.session.description.clock?.now == Setup.noon + .days(1))
        }
    }

    @Test func `an oximeter has no clock to set`() throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(model: .oximeter))) { setup in
            #expect(setup.session.description.clock == nil)
            await #expect(throws: DeviceError.unsupported("setting the clock")) {
                try await setup.session.setClock(Setup.noon, utcOffset: 0)
            }
        }
    }

    @Test func `follows the time zone of the gateway`() throws {
        let driver = SimulatorDriver(SimulatorOptions(seed: 3, liveInterval: nil))
        let nights = try ["Europe/Berlin", "Asia/Tokyo"].map { zone in
            try Setup.play(driver, zone: zone) { setup in
                try await setup.history(.sleep, from: Setup.noon - .days(1), to: Setup.noon)
            }
        }
        let berlin = try #require(nights[0].last)
        let tokyo = try #require(nights[1].last)
        #expect(berlin.end - tokyo.end == .hours(8))
    }
}
