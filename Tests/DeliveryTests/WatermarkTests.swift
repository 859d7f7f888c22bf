import Contract
import GatewayKit
import GatewayTesting
import Logging
import TestSupport
import Testing
import Vitals

@testable import Delivery

/// Checks that the watermarks are stored, even if the store fails for a while.
@Suite struct WatermarkTests {
    private struct Rig: Sendable {
        let scratch: ScratchStore
        let outbox = Outbox()
        let watermarks: Watermarks
        let clock: GatewayClock

        init(_ environment: Simulation) throws {
            let outbox = outbox
            scratch = try ScratchStore(environment) { outbox.committed($0) }
            clock = environment.gatewayClock
            let settings = DeliverySettings(
                topics: ContractTopics(gateway: Fixture.device),
                calendar: try #require(LocalCalendar(identifier: "UTC")), clock: clock,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            watermarks = Watermarks(outbox: outbox, store: scratch.store, settings: settings)
        }

        /// Commits an alert's fact, an answer and a sample, and sends everything that waits. Returns what was sent.
        func send() async throws -> [DeliveryMark] {
            let gap = Gap(metric: nil, from: nil, to: nil, count: nil, reason: .device, at: clock.now)
            try await scratch.base.report(gap, of: Fixture.device)
            try await scratch.base.complete(
                StoredAnswer(key: "1", topic: "t", correlation: nil, payload: [1], at: clock.now))
            let sample = Fixture.heartRate(60)
            let ingest = Ingest(
                device: Fixture.device, samples: [sample.sample], receivedAt: clock.now
            ) { outcomes in
                var decision = IngestOutcome()
                let measurement = Fact.Measurement(
                    metric: .heartRate, source: .live, isHistorical: false, user: nil, samples: outcomes.map(\.stored))
                decision.facts = [(.live, .measurement(measurement))]
                return decision
            }
            _ = try await scratch.base.ingest(ingest)
            outbox.connect(window: 9)
            var marks: [DeliveryMark] = []
            while true {
                switch outbox.next() {
                case .send(let entry): marks.append(.entry(entry.lane, entry.number))
                case .page(let lane, let after):
                    outbox.paged(lane, try await scratch.base.pending(lane, after: after, limit: 9))
                case .rest: return marks
                }
            }
        }

        var pending: [Lane: Int] {
            get async throws { try await scratch.base.statistics().pending.filter { $0.value > 0 } }
        }
    }

    private static func run(_ body: @escaping @Sendable (Rig, [DeliveryMark]) async throws -> Void) throws {
        for seed: UInt64 in 0..<20 {
            try Simulation.run(seed: seed, start: Fixture.noon, deadline: .hours(1)) { environment in
                let rig = try Rig(environment)
                let marks = try await rig.send()
                #expect(marks.map(\.lane) == [.alert, .answer, .live])
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await rig.watermarks.run() }
                    try await body(rig, marks)
                    group.cancelAll()
                }
            }
        }
    }

    @Test func `what the broker has does not count as unsent for ever because the disk was full once`() throws {
        try Self.run { rig, marks in
            rig.scratch.script { call, number in
                call == .acknowledge && number <= 5 ? .failure(StoreError(.full, "The disk is full.")) : nil
            }
            rig.watermarks.acknowledged(marks)
            try await rig.clock.sleep(for: .seconds(60))
            #expect(try await rig.pending == [:])
        }
    }

    @Test func `an alert and an answer count as sent at once, and samples with them or within half a minute`() throws {
        try Self.run { rig, marks in
            rig.watermarks.acknowledged(marks.filter { $0.lane == .live })
            try await rig.clock.sleep(for: Watermarks.delay - .milliseconds(1))
            #expect(try await rig.pending == [.alert: 1, .answer: 1, .live: 1])
            try await rig.clock.sleep(for: .milliseconds(2))
            #expect(try await rig.pending == [.alert: 1, .answer: 1])
            rig.watermarks.acknowledged(marks)
            try await rig.clock.sleep(for: .milliseconds(1))
            #expect(try await rig.pending == [:])
        }
    }

    @Test func `samples count as sent with the next commit`() throws {
        try Self.run { rig, marks in
            rig.watermarks.acknowledged(marks.filter { $0.lane == .live })
            try await rig.clock.sleep(for: .milliseconds(1))
            #expect(try await rig.pending == [.alert: 1, .answer: 1, .live: 1])
            try await rig.scratch.base.save([.lastSeen(rig.clock.now)], of: Fixture.device)
            #expect(try await rig.pending == [.alert: 1, .answer: 1])
        }
    }
}
