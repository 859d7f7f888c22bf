import Engines
import TestSupport
import Testing
import Vitals

@Suite struct ConnectionMachineTests {
    private func machine(seed: UInt64 = 1) -> ConnectionMachine {
        ConnectionMachine(at: Fixture.noon, generator: SplitMix64(seed: seed))
    }

    private func waits(_ actions: [ConnectionMachine.Action]) -> [Duration] {
        actions.compactMap { if case .wait(let duration) = $0 { duration } else { nil } }
    }

    @Test func `connects at once, and says where it is`() {
        var machine = machine()
        let actions = machine.handle(.start, at: Fixture.noon)
        #expect(actions.last == .open)
        #expect(machine.state.phase == .connecting)
        #expect(machine.state.attempts == 1)
        #expect(machine.handle(.start, at: Fixture.noon) == [])
        #expect(machine.handle(.woken, at: Fixture.noon) == [])
        let opened = machine.handle(.opened(clockSkew: 3.5), at: Fixture.minute(1))
        #expect(opened == [.publish(machine.state)])
        #expect(machine.state == LinkState(phase: .connected, since: Fixture.minute(1), clockSkew: 3.5))
    }

    @Test(arguments: 0..<50) func `waits longer after each failure, up to five minutes`(seed: UInt64) throws {
        var machine = machine(seed: seed)
        _ = machine.handle(.start, at: Fixture.noon)
        var ceiling = ConnectionMachine.firstWait
        for attempt in 1...20 {
            let wait = try #require(waits(machine.handle(.ended("offline"), at: Fixture.noon)).first)
            #expect(wait >= ceiling / 2 && wait <= ceiling)
            #expect(machine.state.phase == .waiting)
            #expect(machine.state.lastError == "offline")
            #expect(machine.handle(.woken, at: Fixture.noon).last == .open)
            #expect(machine.state.attempts == attempt + 1)
            ceiling = min(ceiling * 2, ConnectionMachine.longestWait)
        }
        #expect(ceiling == ConnectionMachine.longestWait)
    }

    @Test func `a connection that breaks at once does not make it connect without end`() throws {
        var machine = machine()
        var total = Duration.zero
        _ = machine.handle(.start, at: Fixture.noon)
        for _ in 0..<20 {
            _ = machine.handle(.opened(clockSkew: nil), at: Fixture.noon)
            total += try #require(waits(machine.handle(.ended("broken"), at: Fixture.noon + .seconds(1))).first)
            _ = machine.handle(.woken, at: Fixture.noon)
        }
        #expect(total > .minutes(20))
    }

    @Test func `a connection that held makes the waits begin anew`() throws {
        var machine = machine()
        _ = machine.handle(.start, at: Fixture.noon)
        for _ in 0..<10 {
            _ = machine.handle(.ended("offline"), at: Fixture.noon)
            _ = machine.handle(.woken, at: Fixture.noon)
        }
        _ = machine.handle(.opened(clockSkew: nil), at: Fixture.noon)
        let wait = try #require(waits(machine.handle(.ended("broken"), at: Fixture.minute(1))).first)
        #expect(wait <= ConnectionMachine.firstWait)
    }

    @Test func `connects again at once where somebody wants it`() {
        var machine = machine()
        #expect(machine.handle(.reconnect, at: Fixture.noon) == [])
        _ = machine.handle(.start, at: Fixture.noon)
        #expect(machine.handle(.reconnect, at: Fixture.noon) == [.close])
        _ = machine.handle(.opened(clockSkew: nil), at: Fixture.noon)
        #expect(machine.handle(.reconnect, at: Fixture.noon) == [.close])
        #expect(waits(machine.handle(.ended(nil), at: Fixture.noon)) == [.zero])
        #expect(machine.state.lastError == nil)
        #expect(machine.handle(.reconnect, at: Fixture.noon) == [.wait(.zero)])
        #expect(machine.handle(.woken, at: Fixture.noon).last == .open)
    }

    @Test func `says that it is disabled when it stops`() {
        var machine = machine()
        #expect(machine.handle(.stop, at: Fixture.noon) == [])
        _ = machine.handle(.start, at: Fixture.noon)
        #expect(machine.handle(.stop, at: Fixture.minute(2)) == [.publish(machine.state)])
        #expect(machine.state.phase == .disabled)
        #expect(machine.state.since == Fixture.minute(2))
    }

    @Test func `publishes the signal when it changes, and forgets it with the connection`() {
        var machine = machine()
        _ = machine.handle(.start, at: Fixture.noon)
        _ = machine.handle(.opened(clockSkew: nil), at: Fixture.noon)
        #expect(machine.handle(.signal(-60), at: Fixture.noon) == [.publish(machine.state)])
        #expect(machine.handle(.signal(-60), at: Fixture.noon) == [])
        _ = machine.handle(.ended("lost"), at: Fixture.noon)
        #expect(machine.state.signalStrength == nil)
    }
}
