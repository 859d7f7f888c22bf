import Foundation
import GRDB
import Testing
import Vitals

@testable import Store

/// Live samples go through the journal, and nothing else shows that they did.
@Suite struct JournalTests {
    private static let hour = dawn + .hours(1)

    private func rows(_ table: String, _ store: SQLiteStore) async throws -> Int {
        try await store.write { try Int.fetchOne($0.database, sql: "SELECT count(*) FROM \(table)") ?? 0 }
    }

    @Test func `a live sample is one row of the journal until somebody asks for it`() async throws {
        let store = try SQLiteStore.scratch()
        _ = try await store.ingest(Ingest(.band, [beat(0)]))
        _ = try await store.ingest(Ingest(.band, [beat(1)]))
        #expect(try await rows("journal", store) == 2)
        #expect(try await rows("sample", store) == 0)
        #expect(try await rows("message", store) == 0)
        #expect(try await store.statistics().pending[.live] == 2)
        #expect(try await store.statistics().oldestPendingAt == Self.hour)
        #expect(try await store.pendingFacts(.live, after: 0, limit: 9).map(\.values) == [[60], [60]])
        #expect(try await rows("journal", store) == 0)
        #expect(try await rows("sample", store) == 2)
        #expect(try await rows("message", store) == 2)
    }

    @Test func `what a crash leaves in the journal is there after the next start`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        _ = try await store.ingest(
            Ingest(.band, [beat(0, 61)]) {
                $0.highWater = [.heartRate: dawn + .seconds(7)]
                $0.latest = [.heartRate: SampleKey(beat(0))]
            })
        _ = try await store.ingest(Ingest(.ring, [beat(0), beat(1)]))
        try await store.acknowledge(.live, through: 1)
        try await store.complete(StoredAnswer(key: "k", topic: "t", correlation: nil, payload: [1], at: Self.hour))
        let crashed = try folder.crashed()
        let next = try crashed.open()
        let record = try await next.load(.band)
        #expect(record.highWater == [.heartRate: dawn + .seconds(7)])
        #expect(record.latest[.heartRate]?.sample == beat(0, 61))
        #expect(try await next.all().map(\.sample) == [beat(0, 61)])
        #expect(try await next.all(of: .ring).count == 2)
        #expect(try await next.pendingFacts(.live, after: 0, limit: 9).map(\.sequence) == [2])
        #expect(try await next.statistics().pending == [.alert: 0, .answer: 1, .live: 1, .history: 0])
        _ = try await next.ingest(Ingest(.band, [beat(9)]))
        #expect(crashed.committed.all.map(\.sequence) == [3])
    }

    @Test func `a sample in the journal is known, and corrected in its table`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        _ = try await store.ingest(Ingest(.band, [beat(0, 60), beat(1, 61)]))
        let again = try await store.ingest(Ingest(.band, [beat(0, 60), beat(2, 62), beat(2, 62)]))
        #expect((again.new, again.corrected, again.known) == (1, 0, 2))
        #expect(try await rows("journal", store) == 2)
        let corrected = try await store.ingest(Ingest(.band, [beat(1, 99)]))
        #expect((corrected.new, corrected.corrected, corrected.known) == (0, 1, 0))
        #expect(try await store.all().map(\.sample.value) == [60, 99, 62])
        #expect(try await store.all().map(\.revision) == [1, 2, 1])
        #expect(folder.committed.all.map(\.sequence) == [1, 2, 3])
    }

    @Test func `a reader never sees a later message of a lane without the earlier ones`() async throws {
        let store = try SQLiteStore.scratch()
        _ = try await store.ingest(Ingest(.band, [beat(0)]))
        let many = (1...Transaction.journaledIngest + 1).map { beat($0) }
        _ = try await store.ingest(Ingest(.ring, many))
        let stored = try await store.write {
            try Int64.fetchAll($0.database, sql: "SELECT sequence FROM message WHERE lane = 2 ORDER BY sequence")
        }
        #expect(stored == [1, 2, 3])
    }

    @Test func `the journal is folded when it has two thousand samples or six hundred records, or is ten minutes old`()
        async throws
    {
        let store = try SQLiteStore.scratch()
        for part in 0..<8 {
            _ = try await store.ingest(Ingest(.band, (0..<250).map { beat(part * 250 + $0) }))
        }
        #expect(try await rows("journal", store) == 0)
        #expect(try await rows("sample", store) == Transaction.journaledSamples)
        for number in 0..<Transaction.journaledRecords {
            _ = try await store.ingest(Ingest(.ring, [beat(number)]))
        }
        #expect(try await rows("journal", store) == 0)
        _ = try await store.ingest(Ingest(.ring, [beat(-1)]))
        _ = try await store.clean(at: Self.hour + .minutes(9))
        #expect(try await rows("journal", store) == 1)
        _ = try await store.clean(at: Self.hour + .minutes(10))
        #expect(try await rows("journal", store) == 0)
    }

    @Test func `a store that is closed has nothing in the journal`() async throws {
        let folder = try await StoreFolder.holding([beat(0)])
        let shell = try DatabaseQueue(path: folder.path)
        #expect(try await shell.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM journal") } == 0)
        #expect(try await shell.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM readable_sample") } == 1)
    }

    @Test func `a watermark that can wait is stored with the next commit`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        _ = try await store.ingest(Ingest(.band, [beat(0)]))
        store.note(.live, through: 1)
        #expect(try await store.statistics().pending[.live] == 1)
        _ = try await store.ingest(Ingest(.band, [beat(1)]))
        #expect(await store.commitCount == 2)
        #expect(try await store.statistics().pending[.live] == 1)
        let crashed = try folder.crashed()
        #expect(try await crashed.open().pendingFacts(.live, after: 0, limit: 9).map(\.sequence) == [2])
    }

    @Test func `a record is the same after it was packed`() throws {
        var record = JournalRecord()
        let pressure = Sample(
            metric: .bloodPressure, start: dawn, end: dawn + .seconds(40), kind: .maximum, isUserInitiated: true,
            revision: 3, user: 0, reading: .bloodPressure(BloodPressure(systolic: 120, diastolic: 80, pulse: 61.5)))
        var beats = [
            beat(5, 61.25), beat(-100_000_000, 0.1 + 0.2), beat(3, -0.0), beat(3, 1e300), beat(4, revision: 7),
        ]
        beats[0].isExercise = false
        for (number, sample) in (beats + [pressure]).enumerated() {
            let stored = StoredSample(
                sample: sample, id: SampleID(high: 0, low: 0), revision: number + 1, receivedAt: Self.hour)
            record.items.append(JournalRecord.Item(stored, series: Int64(number)))
        }
        record.messages = [
            JournalRecord.Message(
                lane: .history, sequence: .max, device: 1, series: 2, source: .sync, isHistorical: true, user: nil,
                samples: 3, madeAt: 0, body: [1, 2]),
            JournalRecord.Message(
                lane: .live, sequence: 4, device: 1, series: 2, source: .measure, isHistorical: false, user: 7,
                samples: 1, madeAt: -5, body: []),
        ]
        record.marks = [
            JournalRecord.Mark(series: 1, highWater: nil, latest: SampleKey(pressure)),
            JournalRecord.Mark(series: 2, highWater: 5, latest: nil),
        ]
        record.counters.lanes[2].samples = 17
        #expect(try JournalRecord(packed: record.packed) == record)
        for length in record.packed.indices {
            #expect(throws: StoreError.self) { try JournalRecord(packed: Array(record.packed[..<length])) }
        }
    }
}
