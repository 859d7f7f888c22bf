import Concurrency
import Contract
import GatewayKit
import GatewayTesting
import Logging
import TestSupport
import Testing
import Vitals

@testable import Delivery

/// Whether facts are quarantined can be asked.
@Suite struct QuarantineWriterTests {
    private struct Rig: Sendable {
        let scratch: ScratchStore
        let writer: QuarantineWriter
        let turns = TurnProbe()
        let clock: GatewayClock

        init(_ environment: Simulation) throws {
            scratch = try ScratchStore(environment)
            clock = environment.gatewayClock
            let settings = DeliverySettings(
                topics: ContractTopics(gateway: Fixture.device),
                calendar: try #require(LocalCalendar(identifier: "UTC")), clock: clock,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let outbox = Outbox()
            writer = QuarantineWriter(
                outbox: outbox, watermarks: Watermarks(outbox: outbox, store: scratch.store, settings: settings),
                inFlight: InFlightPublishes(), store: scratch.store, settings: settings, turns: turns)
        }

        /// Whether it answers within a minute.
        func answers() async -> Bool { await clock.withTimeout(.minutes(1)) { await turns.answer() } != nil }
    }

    private func run(_ body: @escaping @Sendable (Rig) async throws -> Void) throws {
        try Simulation.run(seed: 1, deadline: .hours(1)) { environment in
            let rig = try Rig(environment)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await rig.writer.run() }
                try await body(rig)
                group.cancelAll()
            }
            #expect(await rig.answers())
        }
    }

    @Test func `it answers while it has nothing to do, and while the store refuses`() throws {
        try run { rig in
            #expect(await rig.answers())
            rig.scratch.script { call, _ in call == .quarantine ? .failure(StoreError(.full, "full")) : nil }
            rig.writer.add(RefusedFact(lane: .live, number: 1, reason: "test"))
            for _ in 0..<5 { #expect(await rig.answers()) }
        }
    }

    @Test func `a fact that is refused at every connection waits once while the store is full`() throws {
        try run { rig in
            rig.scratch.script { call, _ in call == .quarantine ? .failure(StoreError(.full, "full")) : nil }
            for connection in 0..<100 {
                for number in 1...128 as ClosedRange<Int64> {
                    rig.writer.add(RefusedFact(lane: .live, number: number, reason: "at connection \(connection)"))
                }
                rig.writer.taken(500)
                #expect(await rig.answers())
            }
            #expect(rig.writer.count == 129)
        }
    }

    @Test func `it answers only when a store that hangs has taken the facts`() throws {
        try run { rig in
            let gate = Promise<Void>()
            rig.scratch.script { call, _ in call == .quarantine ? .delay { await gate.waitUncancelled() } : nil }
            rig.writer.add(RefusedFact(lane: .live, number: 1, reason: "test"))
            #expect(await !rig.answers())
            #expect(await !rig.answers())
            gate.fulfil(())
            #expect(await rig.answers())
        }
    }

    @Test func `facts that wait for a task that does not run are seen`() throws {
        try Simulation.run(seed: 1, deadline: .hours(1)) { environment in
            let rig = try Rig(environment)
            #expect(await rig.answers())
            rig.writer.taken(7)
            #expect(await !rig.answers())
        }
    }
}
