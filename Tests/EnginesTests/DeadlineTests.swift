import Concurrency
import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@Suite struct DeadlineTests {
    @Test func `work that takes too long is cancelled and says so`() throws {
        try Simulation.run(seed: 1, deadline: .minutes(1)) { environment in
            let clock = environment.gatewayClock
            let error = await #expect(throws: DeviceError.self) {
                try await clock.withDeadline(.seconds(5), naming: "a question") {
                    () async throws(DeviceError) in
                    do { try await clock.sleep(for: .hours(1)) } catch { throw DeviceError(.disconnected, "closed") }
                }
            }
            #expect(error?.code == .timeout)
            #expect(error?.message.contains("a question") == true)
            #expect(environment.uptime == .seconds(5))
        }
    }

    @Test func `work that is done in time gives its result, or its error`() throws {
        try Simulation.run(seed: 2, deadline: .minutes(1)) { environment in
            let clock = environment.gatewayClock
            let result = try await clock.withDeadline(.seconds(5), naming: "it") {
                () async throws(DeviceError) in 7
            }
            #expect(result == 7)
            await #expect(throws: DeviceError(.busy, "later")) {
                try await clock.withDeadline(.seconds(5), naming: "it") { () async throws(DeviceError) in
                    throw DeviceError(.busy, "later")
                }
            }
            #expect(environment.uptime == .zero)
        }
    }
}
