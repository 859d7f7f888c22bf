import Conformance
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import link_wearable

/// The conformance suite over every transport: simulated wearables behind the driver `link`.
///
/// Each wearable is the same device at the same hour. The expected answers are those of the simulator's own driver,
/// which passes the suite by itself.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct LinkConformanceTests {
    @Test(arguments: Wearable.models)
    func `does what every driver must do over a stream of bytes in memory`(model: String) throws {
        let expectation = try Wearable(model: model).expectation(timeout: .minutes(2))
        let violations = try Simulation.run(seed: 1, start: Wearable.noon, deadline: .days(2)) { environment in
            await DriverConformance(expecting: expectation, clock: environment.gatewayClock) { body in
                try await MemoryWay(model: model, environment: environment).open(body)
            }.check()
        }
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test(arguments: Wearable.models)
    func `does what every driver must do over TCP`(model: String) async throws {
        let expectation = try Wearable(model: model).expectation(timeout: .seconds(60))
        let violations = await DriverConformance(expecting: expectation) { body in
            try await TCPWay(model: model).open(body)
        }.check()
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test(arguments: Wearable.models)
    func `does what every driver must do over a call of the device`(model: String) async throws {
        let expectation = try Wearable(model: model).expectation(timeout: .seconds(60))
        let violations = await DriverConformance(expecting: expectation) { body in
            try await CallWay(model: model).open(body)
        }.check()
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test(arguments: Wearable.models)
    func `does what every driver must do with a child process`(model: String) async throws {
        let expectation = try Wearable(model: model).expectation(timeout: .seconds(60))
        let violations = await DriverConformance(expecting: expectation) { body in
            try await ExecWay(model: model).open(body)
        }.check()
        #expect(violations.isEmpty, "\(violations)")
    }
}
