import GatewayKit
import GatewayTesting
import Testing
import Vitals

@testable import Simulator

@Suite struct ClockTests {
    @Test(arguments: [Duration.zero, .seconds(95), .seconds(-7_200), .days(-18_000)])
    func `shows its own time, and records by it, until it is set`(skew: Duration) throws {
        let driver = SimulatorDriver(SimulatorOptions(seed: 3, clockSkew: skew))
        try Stage.play(driver) { stage in
            let clock = try #require(stage.session.description.clock)
            #expect(clock.now == Stage.noon + skew)
            #expect(clock.utcOffset == 60)
            try await stage.pass(.seconds(10))
            let wrong = try #require(stage.samples.last)
            #expect(abs((wrong.end - (Stage.noon + skew)).inMilliseconds) <= 10_000)
            try await stage.session.setClock(stage.simulation.date, utcOffset: 60)
            try await stage.pass(.seconds(70))
            let right = try #require(stage.samples.last)
            #expect(abs((right.end - stage.simulation.date).inMilliseconds) <= 1_000)
        }
        try Stage.play(driver, at: Stage.noon + .days(1)) { stage in
            #expect(stage.session.description.clock?.now == Stage.noon + .days(1))
        }
    }

    @Test func `an oximeter has no clock to set`() throws {
        try Stage.play(SimulatorDriver(SimulatorOptions(model: .oximeter))) { stage in
            #expect(stage.session.description.clock == nil)
            await #expect(throws: DeviceError.unsupported("setting the clock")) {
                try await stage.session.setClock(Stage.noon, utcOffset: 0)
            }
        }
    }

    @Test func `follows the time zone of the gateway`() throws {
        let driver = SimulatorDriver(SimulatorOptions(seed: 3, liveInterval: nil))
        let nights = try ["Europe/Berlin", "Asia/Tokyo"].map { zone in
            try Stage.play(driver, zone: zone) { stage in
                try await stage.history(.sleep, from: Stage.noon - .days(1), to: Stage.noon)
            }
        }
        let berlin = try #require(nights[0].last)
        let tokyo = try #require(nights[1].last)
        #expect(berlin.end - tokyo.end == .hours(8))
    }
}
