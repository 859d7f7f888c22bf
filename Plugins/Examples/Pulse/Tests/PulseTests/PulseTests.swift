import Conformance
import GatewayKit
import GatewayTesting
import Testing
import Vitals

@testable import Pulse

@Suite struct PulseTests {
    /// The strap's memory: a record per minute, more than fit into one answer.
    private static let records = (0..<600).map { minute in
        Sample(
            metric: .heartRate, start: Timestamp(seconds: 1_767_000_000 + Int64(minute) * 60),
            reading: .value(Double(60 + minute % 40)))
    }

    /// Opens a session with a new strap.
    private static func withStrap(
        _ simulation: Simulation, _ body: @Sendable (any DeviceSession, Strap) async throws -> Void
    ) async throws {
        let clock = simulation.gatewayClock
        var options = ConfigurationReader(ConfigurationValue(.null))
        let driver = PulseDriver(options: &options)
        let (gateway, device) = ScriptedByteLink.pair(clock: clock)
        let strap = Strap(device, records: records)
        let id = try #require(DeviceID("strap-1"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await strap.run() }
            defer { group.cancelAll() }
            try await driver.withSession(over: .bytes(gateway), context: .testing(id, clock: clock)) { session in
                try await body(session, strap)
            }
        }
    }

    @Test func `does what every driver must do`() throws {
        let violations = try Simulation.run(seed: 1, deadline: .hours(1)) { simulation in
            await DriverConformance(
                expecting: .init(history: [.heartRate: Self.records]), clock: simulation.gatewayClock
            ) { body in
                try await Self.withStrap(simulation) { session, strap in
                    let peer = DriverConformance.Peer(
                        disconnect: { strap.link.close() },
                        sendEvents: {
                            await strap.send(["72", "B 81", "noise"])
                            let sample = Sample(metric: .heartRate, start: simulation.date, reading: .value(72))
                            return [
                                .samples([sample], receipts: []), .battery(percent: 81, isCharging: nil),
                                .malformed("noise"),
                            ]
                        },
                        fallSilent: { strap.fallSilent() })
                    try await body(session, peer)
                }
            }.check()
        }
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test(arguments: ["", "x", "7 2", "B", "B 101", "H 1 2", "E", "E x", "H 1 9223372036854775807 60"])
    func `ignores a line that is none of the strap's`(line: String) {
        #expect(PulseLine(line) == .malformed(line))
    }

    @Test func `leaves a rate that nobody has to the gateway, which refuses it with its time`() {
        let sample = Sample(metric: .heartRate, start: Timestamp(seconds: 2), reading: .value(400))
        #expect(PulseLine("H 1 2 400") == .record(request: 1, sample))
    }

    @Test func `a line that never ends ends the session`() throws {
        try Simulation.run(seed: 1, deadline: .hours(1)) { simulation in
            try await Self.withStrap(simulation) { session, strap in
                try await strap.link.write(Array(repeating: UInt8(ascii: "7"), count: PulseSession.longestLine + 1))
                await #expect(throws: DeviceError(.failure, "The strap sent a line of more than 64 bytes.")) {
                    while try await session.nextEvents() != nil {}
                }
            }
        }
    }
}
