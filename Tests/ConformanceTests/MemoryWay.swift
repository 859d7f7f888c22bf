import Conformance
import GatewayKit
import GatewayTesting
import Link
import TestSupport
import Vitals

@testable import link_wearable

/// A wearable at the other end of an in-memory byte stream, whose bytes arrive in pieces and with delays.
struct MemoryWay {
    let model: String
    let environment: Simulation

    func open(_ body: @Sendable (any DeviceSession, DriverConformance.Peer) async throws -> Void) async throws {
        let wearable = try Wearable(model: model)
        let clock = environment.gatewayClock
        try await wearable.withRecordingSession(clock: clock) { recording in
            let faults = LinkFaults(chunks: 1...4_096, delay: .zero ... .milliseconds(20))
            let (gateway, device) = ScriptedByteLink.pair(
                toDevice: faults, toGateway: faults, clock: clock, random: environment.random())
            try await withThrowingTaskGroup { group in
                group.addTask {
                    await LinkServer(recording, over: device).run()
                    device.close()
                }
                defer { group.cancelAll() }
                try await linkDriver().withSession(over: .bytes(gateway), context: wearable.context(clock)) { session in
                    try await body(session, recording.peer { device.close() })
                }
            }
        }
    }
}

/// A driver configured without options.
func linkDriver() -> LinkDriver {
    var options = ConfigurationReader(ConfigurationValue(.null))
    return LinkDriver(options: &options)
}

extension RecordingSession {
    /// The peer for the suite, which controls this session.
    func peer(disconnect: @escaping @Sendable () async -> Void) -> DriverConformance.Peer {
        DriverConformance.Peer(
            disconnect: disconnect,
            sendEvents: {
                await self.send(Wearable.events)
                return Wearable.events
            },
            sendSafeSamples: {
                await self.send([Wearable.safeEvent])
                return Wearable.safeSamples
            },
            fallSilent: { self.fallSilent() },
            deviceCalls: { try await self.deviceCalls.wait(until: $0) })
    }
}
