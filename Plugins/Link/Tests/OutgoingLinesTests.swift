import GatewayKit
import GatewayTesting
import Link
import Synchronization
import TestSupport
import Testing
import Vitals

/// Checks the fate of a line whose caller is cancelled.
@Suite(.timeLimit(.minutes(1))) struct OutgoingLinesTests {
    /// A stream that closes when a write to it is cancelled, as TCP does: it is unknown how much was sent.
    private struct TouchyStream: ByteLink {
        let link: ScriptedByteLink
        func read(atMost limit: Int) async throws(LinkError) -> [UInt8] { try await link.read(atMost: limit) }
        func write(_ bytes: [UInt8]) async throws(LinkError) {
            await Task.yield()
            if Task.isCancelled { link.close() }
            try await link.write(bytes)
        }
    }

    @Test(arguments: UInt64(0)..<10)
    func `a cancelled call closes no link that takes a cancelled write amiss`(seed: UInt64) throws {
        try Simulation.run(seed: seed, deadline: .minutes(5)) { simulation in
            let (gateway, device) = ScriptedByteLink.pair(clock: simulation.gatewayClock)
            let scripted = ScriptedSession(DeviceDescription(identity: DeviceIdentity(), capabilities: Capabilities()))
            try await withThrowingTaskGroup { group in
                group.addTask { await LinkServer(scripted, over: device).run() }
                defer { group.cancelAll() }
                try await driver().withSession(
                    over: .bytes(TouchyStream(link: gateway)), context: try context(ManualClock())
                ) { session in
                    for turns in 0..<30 {
                        await withTaskGroup { calls in
                            calls.addTask { try? await session.ping() }
                            for _ in 0..<turns { await Task.yield() }
                            calls.cancelAll()
                        }
                    }
                    try await session.ping()
                }
            }
            // A write cancelled before it began is not sent; one that began is sent whole.
            let pings = scripted.calls.count { $0 == .ping }
            #expect((1...31).contains(pings))
        }
    }

    @Test func `a caller is let go although nobody reads`() throws {
        try Simulation.run(seed: 1, deadline: .minutes(5)) { simulation in
            let (gateway, device) = ScriptedByteLink.pair(capacity: 1, clock: simulation.gatewayClock)
            try await withThrowingTaskGroup { group in
                group.addTask {
                    // The device reads only the greeting.
                    _ = try await device.read(atMost: 1_000)
                    try await device.write(Array(#"{"id":1,"result":{"protocol":1}}"#.utf8) + [UInt8(ascii: "\n")])
                }
                try await driver().withSession(over: .bytes(gateway), context: try context(ManualClock())) { session in
                    await withTaskGroup { calls in
                        for metric in Metric.allCases {
                            calls.addTask {
                                let code = await failure { try await session.monitorConfiguration(of: metric) }?.code
                                #expect(code == .disconnected)
                            }
                        }
                        for _ in 0..<100 { await Task.yield() }
                        calls.cancelAll()
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
