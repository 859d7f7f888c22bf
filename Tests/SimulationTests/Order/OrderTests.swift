import Engines
import Foundation
import GatewayKit
import GatewayTesting
import JSON
import Logging
import Store
import Synchronization
import Testing
import Vitals

/// Whatever the order in which a device tells its records, and however often: what is known in the end is the same.
@Suite struct OrderTests {
    /// 2026-11-20T22:50 in Berlin: seventy minutes before the days of the records are over.
    private static let evening = Timestamp(seconds: 1_795_211_400)

    @Test(arguments: 0..<24 as Range<UInt64>)
    func `any order and duplication of batches ends in the same samples, days and marks`(seed: UInt64) throws {
        // The records are those of every eighth seed, so that several orders of the same ones are compared.
        var random = SplitMix64(seed: seed % 8)
        let records = ShuffledRecords(
            in: Self.evening - .days(3)..<Self.evening, count: 150, random: &random)
        let folder = try StoreFolder()
        defer { folder.remove() }
        let facts = Mutex<[Fact]>([])
        try Simulation(seed: seed, start: Self.evening).run(deadline: .hours(4)) { simulation in
            let store = try folder.open(simulation) { new in facts.withLock { $0 += new } }
            try await Self.tell(records, to: store, simulation)
            try await Self.check(records, store, facts.withLock { $0 })
            try await store.close()
        }
    }

    private static let device = DeviceID("device")

    /// Runs an agent over the midnight after which every day is over.
    private static func tell(
        _ records: ShuffledRecords, to store: SQLiteStore, _ simulation: Simulation
    ) async throws {
        let clock = simulation.gatewayClock
        let calendar = try #require(LocalCalendar(identifier: "Europe/Berlin"))
        let random = Mutex(simulation.random())
        let agent = DeviceAgent(
            info: DeviceInfo(id: try #require(device), name: "device", driver: "shuffled"),
            policy: DevicePolicy(sync: SyncPolicy(every: .minutes(5)), calendar: calendar), store: store,
            output: DeviceOutput(state: { _, _ in }, answer: { _, _ in }), clock: clock,
            logger: Logger(label: "order", factory: { _ in SwiftLogNoOpLogHandler() }), generator: simulation.random()
        ) { body in
            let session = ShuffledSession(records, now: clock.now, random: random.withLock { $0.split() })
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await session.tell(clock) }
                try await body(session)
                group.cancelAll()
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await agent.run() }
            try await clock.sleep(for: .minutes(72))
            agent.stop()
            try await group.waitForAll()
        }
    }

    private static func check(_ records: ShuffledRecords, _ store: SQLiteStore, _ facts: [Fact]) async throws {
        let device = try #require(device)
        let record = try await store.load(device)
        let consumer = Consumer(facts)
        for metric in Metric.synchronised {
            let expected = records.final(of: device).filter { $0.sample.metric == metric }
                .sorted { SampleKey($0.sample) < SampleKey($1.sample) }
            let kept = try await store.samples(
                of: device, metric: metric, starting: SyncPolicy.epoch..<(evening + .days(1)), after: nil,
                limit: 10_000
            ).map(\.withoutReceipt)
            #expect(kept == expected, "\(metric): \(zip(kept, expected).first { $0 != $1 }.debugDescription)")
            #expect(consumer.samples(of: metric) == expected, "\(metric) as a consumer knows it")
            #expect(record.highWater[metric] == expected.map(\.sample.end).max(), "\(metric)")
            #expect(record.latest[metric]?.sample.end == expected.map(\.sample.end).max(), "\(metric)")
            #expect(record.cursors[metric] == expected.map(\.sample.start).max(), "\(metric)")
            try await checkDays(of: metric, expected, store, consumer)
        }
        #expect(record.unsettledDays.isEmpty)
    }

    private static func checkDays(
        of metric: Metric, _ expected: [StoredSample], _ store: SQLiteStore, _ consumer: Consumer
    ) async throws {
        let calendar = try #require(LocalCalendar(identifier: "Europe/Berlin"))
        let byDay = Dictionary(grouping: expected) { DailySummary.day(of: $0.sample, in: calendar) }
        let summaries = byDay.map { DailySummary(metric: metric, day: $0.key, samples: $0.value) }
            .sorted { $0.day < $1.day }
        let today = calendar.day(of: evening)
        let days = try await store.days(
            of: try #require(device), metric: metric, in: today.advanced(by: -9)...today, limit: 100)
        #expect(days.map(\.summary.withoutReceipt) == summaries, "\(metric)")
        #expect(days.allSatisfy { $0.isFinal })
        #expect(days.map(\.revision) == days.map { consumer.days[MetricDay(metric, $0.summary.day)]?.revision })
        #expect(days.map(\.summary) == days.map { consumer.days[MetricDay(metric, $0.summary.day)]?.summary })
    }

    /// A consumer that keeps the highest revision of each sample, and of each day the last.
    private struct Consumer {
        private var newest: [SampleID: StoredSample] = [:]
        private(set) var days: [MetricDay: DayRecord] = [:]

        init(_ facts: [Fact]) {
            for fact in facts {
                switch fact.content {
                case .measurement(let measurement):
                    for stored in measurement.samples where newest[stored.id]?.revision ?? 0 < stored.revision {
                        newest[stored.id] = stored
                    }
                case .day(let record): days[MetricDay(record.summary.metric, record.summary.day)] = record
                case .alert, .gap: break
                }
            }
        }

        func samples(of metric: Metric) -> [StoredSample] {
            newest.values.filter { $0.sample.metric == metric }.map(\.withoutReceipt)
                .sorted { SampleKey($0.sample) < SampleKey($1.sample) }
        }
    }
}
