import GatewayKit
import GatewayTesting
import Testing
import Vitals

/// Requests whose replies come in parts, late, or not at all.
@Suite struct RequestQueueTests {
    /// A reply of so many parts; 0 refuses the request, and a negative part is no part of it.
    private struct Parts: ReplyCollector {
        let count: Int
        var parts: [Int] = []

        mutating func collect(_ part: Int) -> ReplyProgress {
            if part < 0 { return .unrelated }
            if part == 0 { return .refused(.unsupported("the request")) }
            parts.append(part)
            return parts.count == count ? .done : .more
        }
    }

    /// Runs `body` with a queue of two attempts of five seconds, while parts arrive at these seconds.
    private func withQueue(
        identifiesReplies: Bool = true, _ parts: [Int: Int],
        _ body: @escaping @Sendable (RequestQueue<Int>, Simulation) async throws -> Void
    ) throws {
        try Simulation.run(seed: 1, deadline: .hours(1)) { simulation in
            let clock = simulation.gatewayClock
            let queue = RequestQueue<Int>(
                to: "ring", clock: clock, timeout: .seconds(5), attempts: 2, identifiesReplies: identifiesReplies)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await queue.run() }
                for (second, part) in parts.sorted(by: { $0.key < $1.key }) {
                    group.addTask {
                        try await clock.sleep(for: .seconds(second))
                        await queue.receive(part)
                    }
                }
                defer { group.cancelAll() }
                try await body(queue, simulation)
            }
        }
    }

    private static func ask(_ queue: RequestQueue<Int>, parts count: Int) async throws(DeviceError) -> [Int] {
        let reply = try await queue.ask(for: Parts(count: count)) { () async throws(DeviceError) in }
        return reply.parts
    }

    private static func close(_ queue: RequestQueue<Int>, _ clock: GatewayClock) async {
        try? await clock.sleep(for: .seconds(1))
        await queue.close(DeviceError(.disconnected, "It is over."))
    }

    @Test func `each part of a reply renews the wait, and what belongs to none does not`() throws {
        try withQueue([1: -1, 4: 1, 8: 2]) { queue, simulation in
            let value = try await Self.ask(queue, parts: 2)
            #expect(value == [1, 2])
            #expect(simulation.uptime == .seconds(8))
        }
    }

    @Test(
        arguments: [
            ([:], .timeout, 10), ([2: 1], .failure, 15), ([3: 0], .unsupported, 3),
        ] as [([Int: Int], DeviceError.Code, Int)])
    func `silence, a lost part and a refusal are different errors`(
        parts: [Int: Int], code: DeviceError.Code, seconds: Int
    ) throws {
        try withQueue(parts) { queue, simulation in
            await #expect { try await Self.ask(queue, parts: 2) } throws: { ($0 as? DeviceError)?.code == code }
            #expect(simulation.uptime == .seconds(seconds))
            #expect(await queue.failure == nil)
        }
    }

    @Test func `a reply without a number that comes late answers no other request`() throws {
        // The first request is repeated after five seconds, and both of its replies come later.
        try withQueue(identifiesReplies: false, [6: 1, 8: 2, 9: 3]) { queue, simulation in
            let value = try await Self.ask(queue, parts: 1)
            #expect(value == [1])
            #expect(try await Self.ask(queue, parts: 1) == [3])
            #expect(simulation.uptime == .seconds(9))
            await #expect { try await Self.ask(queue, parts: 1) } throws: { ($0 as? DeviceError)?.code == .timeout }
            #expect(await queue.failure?.code == .timeout)
        }
    }

    @Test func `the end of the link fails what waits and what comes`() throws {
        try withQueue([:]) { queue, simulation in
            async let end: Void = Self.close(queue, simulation.gatewayClock)
            for _ in 0..<2 {
                await #expect { try await Self.ask(queue, parts: 1) } throws: {
                    ($0 as? DeviceError)?.message == "It is over."
                }
            }
            await end
            #expect(simulation.uptime == .seconds(1))
        }
    }
}
