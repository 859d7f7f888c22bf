import Contract
import Foundation
import GatewayKit
import GatewayTesting
import Logging
import Store
import Synchronization
import TestSupport
import Testing
import Vitals
import Web

@testable import Delivery
@testable import Gateway

/// What the API and the pages read of a real store and a core.
@Suite struct CoreReaderTests {
    private static let noon = Timestamp(seconds: 1_794_960_000)

    /// A core that does not run, over a store in a folder of its own.
    private func withReader(
        _ body: (CoreReader, GatewayCore, SQLiteStore, DeviceID) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "reader-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try SQLiteStore(
            path: folder.appending(path: "vitals.sqlite").path, now: Self.noon, newIdentity: SampleID(high: 1, low: 1))
        let (home, band) = (try #require(DeviceID("home")), try #require(DeviceID("band-1")))
        let clock = GatewayClock.system
        let settings = CoreSettings(
            gateway: home.text, version: "0", topics: ContractTopics(gateway: home),
            calendar: try #require(LocalCalendar(identifier: "UTC")), clock: clock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let broker = InMemoryBroker(clock: clock, generator: SplitMix64(seed: 1))
        let core = GatewayCore(
            settings: settings, store: store, broker: broker.client(InMemoryClientOptions(id: "gateway")),
            outbox: Outbox(), discovery: .off, seed: 1, reload: { [] })
        try await body(CoreReader(of: core, store), core, store, band)
        try await store.close()
    }

    private static func summary(_ day: Int, _ average: Double) -> DailySummary {
        DailySummary(
            metric: .stress, day: LocalDay(number: day), count: 1, manualCount: 0, average: average,
            details: .values(.init()))
    }

    @Test func `the running day is as it is now, and past ones are those of the store`() async throws {
        try await withReader { reader, core, store, band in
            for day in 0..<3 {
                _ = try await store.settle(Self.summary(day, 1), of: band, isFinal: true, at: Self.noon)
            }
            let today = DayRecord(summary: Self.summary(2, 9), revision: 4, updatedAt: Self.noon, isFinal: false)
            core.retained.put(.device(band, .today(today)))
            let all = LocalDay(number: 0)...LocalDay(number: 9)
            let days = try await reader.dayRecords(of: band, .stress, all, limit: 9)
            #expect(days.map(\.summary.average) == [1, 1, 9] && days.last == today)
            let two = try await reader.days(of: band, .stress, all, limit: 2)
            #expect(two.map(\.day.number) == [0, 1])
            let none = try await reader.dayRecords(
                of: band, .stress, LocalDay(number: 5)...LocalDay(number: 9), limit: 9)
            #expect(none.isEmpty)
        }
    }

    @Test func `samples, edges, states and the configured devices are those of the store and the core`() async throws {
        try await withReader { reader, core, store, band in
            let sample = Sample(metric: .heartRate, start: Self.noon, reading: .value(61))
            let edge = AlertEvent(
                id: SampleID(name: "e"), rule: AlertRule(.stress, .high), edge: .raised, value: 90, limit: 80,
                origin: .gateway, measuredAt: Self.noon, raisedAt: Self.noon, sampleID: nil)
            let ingest = Ingest(device: band, samples: [sample], receivedAt: Self.noon, cursors: [:]) { _ in
                var outcome = IngestOutcome()
                outcome.facts = [(.alert, .alert(edge, isLate: false))]
                return outcome
            }
            _ = try await store.ingest(ingest)
            let range = Self.noon..<Self.noon + .seconds(1)
            let samples = try await reader.samples(of: band, .heartRate, starting: range, after: nil, limit: 9)
            #expect(samples.map(\.sample) == [sample])
            let edges = try await reader.alerts(of: band, before: .latest, limit: 9)
            #expect(edges == [edge])
            core.retained.put(.device(band, .availability(isOnline: true)))
            #expect(await reader.states(of: band) == [.availability(isOnline: true)])
            core.configured.withLock {
                $0 = [DeviceInfo(id: band, name: "Band", person: "anna", people: [2: "ben"], driver: "link")]
            }
            let expected = ConfiguredDevice(id: band, name: "Band", driver: "link", person: "anna", people: [2: "ben"])
            #expect(reader.devices == [expected])
        }
    }
}
