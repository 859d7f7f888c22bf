import Concurrency
import GatewayKit
import GatewayTesting
import Testing
import Vitals

@testable import Delivery

/// What wakes the publisher.
@Suite struct OutboxTests {
    /// A connected outbox, of which everything is sent.
    private static func outbox(window: Int) -> Outbox {
        let outbox = Outbox()
        outbox.connect(window: window)
        for lane in Lane.allCases {
            _ = outbox.next()
            outbox.paged(lane, [])
        }
        return outbox
    }

    private static func isWoken(_ outbox: Outbox, _ environment: Simulation) async -> Bool {
        await environment.gatewayClock.withTimeout(.seconds(1)) {
            await outbox.wakeup.wait()
            return true
        } ?? false
    }

    @Test func `an acknowledgement wakes the publisher only if the window was full`() throws {
        try Simulation.run(seed: 1, deadline: .hours(1)) { environment in
            let outbox = Self.outbox(window: 2)
            for _ in 0..<2 { outbox.sentState() }
            outbox.acknowledged([.state(1)])
            #expect(await Self.isWoken(outbox, environment))
            outbox.acknowledged([.state(2)])
            let isWokenAgain = await Self.isWoken(outbox, environment)
            #expect(!isWokenAgain)
        }
    }

    @Test func `a committed entry wakes the publisher at once, or with the acknowledgement that makes room`() throws {
        try Simulation.run(seed: 2, deadline: .hours(1)) { environment in
            let outbox = Self.outbox(window: 1)
            let answer = StoredAnswer(key: "k", topic: "t", correlation: nil, payload: [], at: Fixture.noon)
            outbox.committed([.answer(number: 1, answer)])
            #expect(await Self.isWoken(outbox, environment))
            outbox.sentState()
            outbox.committed([.answer(number: 2, answer)])
            let isWokenInVain = await Self.isWoken(outbox, environment)
            #expect(!isWokenInVain)
            outbox.acknowledged([.state(1)])
            #expect(await Self.isWoken(outbox, environment))
        }
    }

    @Test func `a state that changes while it waits wakes the publisher once`() throws {
        try Simulation.run(seed: 3, deadline: .hours(1)) { environment in
            let outbox = Self.outbox(window: 1)
            let states = RetainedStates(beside: outbox)
            states.connect()
            states.put(.stale(topic: "a"))
            #expect(await Self.isWoken(outbox, environment))
            states.put(.stale(topic: "a"))
            let isWokenInVain = await Self.isWoken(outbox, environment)
            #expect(!isWokenInVain)
            #expect(states.next() != nil)
            states.put(.stale(topic: "a"))
            #expect(await Self.isWoken(outbox, environment))
        }
    }
}
