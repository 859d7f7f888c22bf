import Concurrency
import Contract
import GatewayTesting
import Logging
import MQTT
import Synchronization
import TestSupport
import Testing
import Vitals

@testable import Delivery

/// What a broker gets when it comes back, and a thousand gateways have waited for it.
@Suite struct BrokerReturnTests {
    private static let gateways = 1_000
    /// How long all are connected before the broker goes: longer than a connection needs to count as stable.
    private static let calm: Duration = .minutes(1)

    /// A broker that is away for a while, and counts when gateways try and when it lets them in.
    private final class ReturningBroker: Broker {
        private let clock: GatewayClock
        private let absence: Range<Duration>
        private let times = Mutex<(failed: [Duration], connected: [Duration])>(([], []))

        init(_ clock: GatewayClock, awayFor duration: Duration) {
            self.clock = clock
            absence = calm..<(calm + duration)
        }

        /// The attempts while it is away, and the connections after that.
        var attempts: (failed: [Duration], connected: [Duration]) { times.withLock { $0 } }

        func withConnection(_ body: @Sendable (any BrokerConnection) async throws -> Void) async throws {
            let now = clock.uptime
            guard now >= absence.lowerBound else {
                try await clock.sleep(for: absence.lowerBound - now)
                throw BrokerError(.broken, "The broker ends.")
            }
            guard now >= absence.upperBound else {
                times.withLock { $0.failed.append(now) }
                throw BrokerError(.unreachable, "The broker is away.")
            }
            times.withLock { $0.connected.append(now - absence.upperBound) }
            try await clock.sleep(for: .days(1))
        }
    }

    /// The attempts of a thousand gateways, each with its own seed, at a broker that is away for this time.
    private func attempts(awayFor duration: Duration) throws -> (failed: [Duration], connected: [Duration]) {
        try Simulation.run(seed: 1, deadline: .days(1)) { environment in
            let scratch = try ScratchStore(environment)
            let broker = ReturningBroker(environment.gatewayClock, awayFor: duration)
            let settings = DeliverySettings(
                topics: ContractTopics(gateway: try #require(DeviceID("home"))),
                calendar: try #require(LocalCalendar(identifier: "UTC")), clock: environment.gatewayClock,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<Self.gateways {
                    let outbox = Outbox()
                    let loop = BrokerLoop(
                        broker: broker, store: scratch.base, outbox: outbox, retained: RetainedStates(beside: outbox),
                        codec: ContractCodec(settings: settings, discovery: .off), status: BrokerStatus(),
                        settings: settings, inbox: { _ in }, room: {}, connected: {})
                    group.addTask { await loop.run(generator: SplitMix64(seed: UInt64(number))) }
                }
                try? await environment.gatewayClock.sleep(for: Self.calm + duration + .minutes(1))
                group.cancelAll()
            }
            return broker.attempts
        }
    }

    /// The most of these moments within any time of this length.
    private func peak(_ moments: [Duration], within length: Duration) -> Int {
        let sorted = moments.sorted()
        var (first, most) = (0, 0)
        for (last, moment) in sorted.enumerated() {
            while moment - sorted[first] >= length { first += 1 }
            most = max(most, last - first + 1)
        }
        return most
    }

    @Test func `gateways whose broker restarts at once return within a quarter of a second`() throws {
        let connected = try attempts(awayFor: .milliseconds(50)).connected
        #expect(connected.count == Self.gateways)
        #expect(try #require(connected.max()) <= .milliseconds(250))
    }

    @Test func `after a minute they return evenly within a second and a half, at most 150 in a tenth of a second`()
        throws
    {
        let (failed, connected) = try attempts(awayFor: .minutes(1))
        #expect(connected.count == Self.gateways)
        #expect(try #require(connected.max()) <= .milliseconds(1500))
        #expect(peak(connected, within: .milliseconds(100)) <= 150)
        // Their first waits are short.
        #expect(peak(failed, within: .seconds(1)) <= 2_500)
    }

    @Test func `after seven minutes they return evenly within half a minute, at most 80 in a second`() throws {
        let connected = try attempts(awayFor: .minutes(7)).connected
        #expect(connected.count == Self.gateways)
        #expect(try #require(connected.max()) <= .seconds(30))
        #expect(peak(connected, within: .seconds(1)) <= 80)
    }
}
