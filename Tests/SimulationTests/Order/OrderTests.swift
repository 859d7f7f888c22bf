import Concurrency
import Engines
import Foundation
import GatewayKit
import GatewaySimulation
import GatewayTesting
import JSON
import Logging
import Store
import Synchronization
import TestSupport
import Testing
import Vitals

/// Checks that the final state does not depend on the order and the repetition of a device's records.
@Suite struct OrderTests {
    /// 2026-11-20T22:50 in Berlin: seventy minutes before the last day of the records ends.
    private static let evening = Timestamp(seconds: 1_795_211_400)

    @Test(arguments: 0..<24 as Range<UInt64>)
    func `any order and duplication of batches ends in the same samples, days and marks`(seed: UInt64) throws {
        // Seeds that are equal modulo 8 share their records, so that several orders of the same records are compared.
        var random = SplitMix64(seed: seed % 8)
        let records = ShuffledRecords(
            in: Self.evening - .days(3)..<Self.evening, count: 150, random: &random)
        let folder = try StoreFolder()
        defer { folder.remove() }
        let facts = Mutex<[Fact]>([])
        try Simulation(seed: seed, start: Self.evening).run(deadline: .hours(4)) { simulation in
            let store = try folder.open(simulation) { new in facts.withLock { $0 += new.compactMap(\.fact) } }
            try await Self.report(records, to: store, simulation)
            try await Self.check(records, store, facts.withLock { $0 })
            try await store.close()
        }
    }

    private static let device = DeviceID("device")

    /// Runs an agent past the midnight after which every day is over.
    private static func report(
        _ records: ShuffledRecords, to store: SQLiteStore, _ simulation: Simulation
    ) async throws {
        let clock = simulation.gatewayClock
        let calendar = try #require(LocalCalendar(identifier: "Europe/Berlin"))
        let random = Mutex(simulation.random())
        let timers = Timers(clock: clock)
        let agent = DeviceAgent(
            info: DeviceInfo(id: try #require(device), name: "device", driver: "shuffled"),
            policy: DevicePolicy(sync: SyncPolicy(every: .minutes(5)), calendar: calendar), store: store,
            output: DeviceOutput(state: { _, _ in }, answer: { _, _ in }), clock: clock, timers: timers,
            logger: Logger(label: "order", factory: { _ in SwiftLogNoOpLogHandler() }), generator: simulation.random()
        ) { body in
            let session = ShuffledSession(records, now: clock.now, random: random.withLock { $0.split() })
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await session.report(clock) }
                try await body(session)
                group.cancelAll()
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = await race(against: { await agent.run() }) { await timers.run() } }
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
            let starts = records.versions.filter { $0[0].metric == metric }.map { $0[0].start }
            #expect(record.cursors[metric] == starts.max(), "\(metric)")
            let resting = records.final(of: device).filter { $0.sample.metric == metric.restingPartner }
            let rates = records.final(of: device).filter { $0.sample.metric == .heartRate }
            try await checkDays(of: metric, expected, resting: resting, rates: rates, store, consumer)
        }
        #expect(record.unsettledDays.isEmpty)
    }

    private static func checkDays(
        of metric: Metric, _ expected: [StoredSample], resting: [StoredSample], rates: [StoredSample],
        _ store: SQLiteStore, _ consumer: Consumer
    ) async throws {
        let calendar = try #require(LocalCalendar(identifier: "Europe/Berlin"))
        let byDay = Dictionary(grouping: expected) { DailySummary.day(of: $0.sample, in: calendar) }
        let restingByDay = Dictionary(grouping: resting.filter(\.sample.isResting)) {
            DailySummary.day(of: $0.sample, in: calendar)
        }
        let summaries = byDay.map { day, samples in
            var summary = DailySummary(metric: metric, day: day, samples: samples)
            if case .values(var extremes) = summary.details {
                extremes.resting = Self.resting(samples + (restingByDay[day] ?? []))
                summary.details = .values(extremes)
            }
            if metric == .heartRate { summary.zones = Self.zones(of: samples) }
            if case .sport(var totals) = summary.details {
                for index in totals.workouts.indices {
                    let workout = totals.workouts[index]
                    totals.workouts[index].zones = Self.zones(
                        of: rates.filter { (workout.start..<workout.end).contains($0.sample.start) },
                        until: workout.end)
                }
                summary.details = .sport(totals)
            }
            return summary
        }.sorted { $0.day < $1.day }
        let today = calendar.day(of: evening)
        let days = try await store.days(
            of: try #require(device), metric: metric, in: today.advanced(by: -9)...today, limit: 100)
        // A day whose only record was withdrawn is empty.
        #expect(days.map(\.summary.withoutReceipt).filter { $0.count > 0 } == summaries, "\(metric)")
        #expect(days.allSatisfy { $0.isFinal })
        #expect(days.map(\.revision) == days.map { consumer.days[MetricDay(metric, $0.summary.day)]?.revision })
        #expect(days.map(\.summary) == days.map { consumer.days[MetricDay(metric, $0.summary.day)]?.summary })
    }

    /// The time in zones by the exercise maximum that a device begins with.
    private static func zones(of rates: [StoredSample], until end: Timestamp? = nil) -> HeartRateZones {
        var tally = ZoneTally(maximum: 190)
        for stored in rates.sorted(by: { SampleKey($0.sample) < SampleKey($1.sample) }) { _ = tally.add(stored.sample) }
        if let end { tally.end(at: end) }
        return tally.zones
    }

    /// The resting items of both heart metrics in order, each moment and value once: preferably as a heart rate.
    private static func resting(_ samples: [StoredSample]) -> [StoredSample] {
        let items = samples.filter { $0.sample.isResting || $0.sample.kind == .resting }
        return items.filter { item in
            item.sample.metric != .restingHeartRate
                || !items.contains { other in
                    other.sample.metric == .heartRate && other.sample.start == item.sample.start
                        && other.sample.end == item.sample.end && other.sample.value == item.sample.value
                }
        }.sorted {
            ($0.sample.start, $0.sample.end, $0.id.high, $0.id.low) < (
                $1.sample.start, $1.sample.end, $1.id.high, $1.id.low
            )
        }
    }

    /// A consumer that keeps the highest revision of each sample, and the last message of each day.
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
                case .alert, .gap, .question: break
                }
            }
        }

        func samples(of metric: Metric) -> [StoredSample] {
            newest.values.filter { $0.sample.metric == metric && !$0.isWithdrawn }.map(\.withoutReceipt)
                .sorted { SampleKey($0.sample) < SampleKey($1.sample) }
        }
    }
}
