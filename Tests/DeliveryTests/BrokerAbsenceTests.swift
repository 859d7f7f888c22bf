import Contract
import GatewayTesting
import Logging
import MQTT
import TestSupport
import Testing
import Vitals

@testable import Delivery

/// What the log says while there is no broker.
@Suite struct BrokerAbsenceTests {
    /// A broker that never lets the gateway in.
    private struct ClosedBroker: Broker {
        let error: BrokerError

        func withConnection(_ body: @Sendable (any BrokerConnection) async throws -> Void) async throws {
            throw error
        }
    }

    /// The warnings and the attempts of a gateway that does not get in for a while.
    private func warnings(for duration: Duration, _ error: BrokerError) throws -> [LogRecorder.Entry] {
        let log = LogRecorder()
        try Simulation.run(seed: 1, deadline: .days(3)) { environment in
            let outbox = Outbox()
            let scratch = try ScratchStore(environment) { outbox.committed($0) }
            let settings = DeliverySettings(
                topics: ContractTopics(gateway: try #require(DeviceID("home"))),
                calendar: try #require(LocalCalendar(identifier: "UTC")), clock: environment.gatewayClock,
                logger: log.logger)
            let loop = BrokerLoop(
                broker: ClosedBroker(error: error), store: scratch.base, outbox: outbox,
                retained: RetainedStates(beside: outbox), codec: ContractCodec(settings: settings, discovery: .off),
                status: BrokerStatus(), settings: settings, inbox: { _ in }, room: {}, connected: {})
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await loop.run(generator: SplitMix64(seed: 1)) }
                try? await environment.gatewayClock.sleep(for: duration)
                group.cancelAll()
            }
        }
        return log.entries.filter { $0.level >= .info }
    }

    @Test func `a broker that is away is said twice in 90 seconds, with the number of failures`() throws {
        let said = try warnings(for: .seconds(90), BrokerError(.unreachable, "h cannot be reached."))
        #expect(said.map(\.message) == Array(repeating: "The broker is not connected.", count: 2))
        #expect(said.allSatisfy { $0.level == .warning && $0.metadata["error"] == "h cannot be reached." })
        #expect(said.first?.metadata["failures"] == "1")
        #expect(said.last.flatMap { $0.metadata["failures"].flatMap { Int($0) } } ?? 0 > 30)
    }

    @Test func `a broker of another version of MQTT is said eleven times in a day`() throws {
        #expect(try warnings(for: .days(1), BrokerError(.unsupportedVersion, "h does not speak it.")).count == 11)
    }
}
