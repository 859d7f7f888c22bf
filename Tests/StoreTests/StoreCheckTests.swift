import Foundation
import GRDB
import Testing
import Vitals

@testable import Store

/// The whole check of a store finds what is wrong in any table, and delays no other work.
@Suite struct StoreCheckTests {
    /// A store with something in each table, after a clean end.
    private func full() async throws -> StoreFolder {
        let folder = try StoreFolder()
        let store = try folder.open()
        try await store.save(DeviceStateTests.changes, of: .band)
        _ = try await store.ingest(Ingest(.band, [beat(0), beat(1)]))
        _ = try await store.ingest(Ingest(.band, [beat(-7_200)], lane: .history))
        try await store.keepPendingStatistics(true, at: dawn)
        let summary = DailySummary(
            metric: .heartRate, day: LocalDay(number: 20_000), count: 1, manualCount: 0, average: 60,
            details: .values(.init()))
        _ = try await store.settle(summary, of: .band, isFinal: true, at: dawn)
        for key in ["begun", "answered"] {
            let envelope = CommandEnvelope(id: key, device: .band, command: "sync")
            _ = try await store.begin(envelope, key: key, at: dawn)
        }
        try await store.complete(StoredAnswer(key: "answered", topic: "me", correlation: nil, payload: [1], at: dawn))
        try await store.close()
        return folder
    }

    private func findings(after damage: String) async throws -> [String] {
        let folder = try await full()
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: folder.path, configuration: configuration)
        try await queue.write { try $0.execute(sql: damage) }
        try queue.close()
        return try StoreCheck.findings(in: folder.path)
    }

    @Test func `a store with something in each table is sound`() async throws {
        #expect(try await findings(after: "") == [])
    }

    @Test(arguments: [
        ("UPDATE device SET identity = '{'", "The device band-1 cannot be decoded."),
        ("UPDATE device SET capabilities = '['", "The device band-1 cannot be decoded."),
        ("UPDATE device SET twin = '{}'", "The device band-1 cannot be decoded."),
        ("UPDATE alert_level SET rule = 'noise'", "The alert level noise belongs to no rule."),
        ("UPDATE alert_level SET last_id = 'x'", "names no sample."),
        ("UPDATE alert_level SET device = 9", "belongs to no device."),
        (
            "UPDATE alert_level SET acknowledged_by = 'anna', acknowledged_at = NULL",
            "says only who has seen it, or only when."
        ),
        (
            "INSERT INTO warning(device, rule, at) VALUES (1, 'stress_high', 1)",
            "The warning stress_high belongs to no rule."
        ),
        ("INSERT INTO warning(device, rule, at) VALUES (9, 'ecg_inconclusive', 1)", "belongs to no device."),
        (
            "INSERT INTO alert_edge(device, measured_at, id, body) VALUES (1, 1, 'x', x'7B')",
            "The edge of an alert x cannot be decoded."
        ),
        ("INSERT INTO alert_edge(device, measured_at, id, body) VALUES (9, 1, 'x', x'7B7D')", "belongs to no device."),
        (
            "INSERT INTO alert_edge(device, measured_at, id, body, acknowledged_at) VALUES (1, 1, 'x', x'7B7D', 9)",
            "The edge of an alert x says only who has seen it, or only when."
        ),
        ("UPDATE pending_statistics SET last_hour = first_hour - 1", "end before they begin."),
        ("UPDATE pending_statistics SET series = 99", "The pending statistics of the series 99 belongs to no series."),
        ("UPDATE command SET envelope = '{' WHERE key = 'begun'", "The command 1 cannot be decoded."),
        ("UPDATE command SET topic = NULL", "The command 2 has an answer without its content."),
        ("UPDATE day SET summary = '{'", "The summary of the day 20000 cannot be decoded."),
        ("UPDATE day SET device_summary = '{'", "The summary of the day 20000 cannot be decoded."),
        (
            "INSERT INTO day(series, day, device_summary) VALUES (1, 9, '{')",
            "The summary of the day 9 cannot be decoded."
        ),
        ("UPDATE day SET series = 99", "The summary of the day 20000 belongs to no series."),
        ("UPDATE message SET device = 99 WHERE sequence = 1", "The message 1 belongs to no device."),
        ("UPDATE message SET series = 99 WHERE sequence = 1", "The message 1 belongs to no series."),
        ("UPDATE message SET source = 'x' WHERE sequence = 1", "The message 1 cannot be decoded."),
        ("UPDATE message SET body = x'FF' WHERE sequence = 1", "The message 1 cannot be decoded."),
        ("UPDATE message SET samples = 5 WHERE sequence = 1", "The message 1 has 2 samples, and not 5."),
        ("UPDATE message SET day = NULL WHERE kind = 1", "cannot be decoded."),
        ("UPDATE sample SET series = 99", "belongs to no series."),
        (
            "UPDATE lane SET messages = 7 WHERE lane = 2",
            "The lane live counts 7 waiting messages with 2 samples, and has 1 with 2."
        ),
        (
            "UPDATE lane SET samples = 7 WHERE lane = 3",
            "The lane history counts 2 waiting messages with 7 samples, and has 2 with 1."
        ),
        (
            "UPDATE lane SET messages = 0 WHERE lane = 1",
            "The lane answer counts 0 waiting messages with 0 samples, and has 1 with 0."
        ),
        ("UPDATE store SET last_sequence = 1", "The last number of a fact is 1, and there is the fact 3."),
        ("UPDATE store SET last_answer = 0", "The last number of an answer is 0, and there is the answer 1."),
    ])
    func `a check finds what no version writes, in every table`(damage: String, finding: String) async throws {
        let findings = try await findings(after: damage)
        #expect(findings.contains { $0.hasSuffix(finding) }, "\(findings)")
        // Several rows may be damaged, and counters with them; nothing else is found.
        #expect(findings.count <= 3)
    }

    @Test func `counters agree with the rows while some of them are in the journal`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        for second in 0..<20 { _ = try await store.ingest(Ingest(.band, [beat(second)])) }
        try await store.acknowledge(.live, through: 7)
        _ = try await store.ingest(Ingest(.band, [beat(50)]))
        let crashed = try folder.crashed()
        let queue = try DatabaseQueue(path: crashed.path)
        #expect(try await queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM journal") } ?? 0 > 5)
        #expect(try StoreCheck.findings(in: crashed.path) == [])
        try await queue.write {
            try $0.execute(sql: "DELETE FROM journal WHERE number = (SELECT min(number) + 10 FROM journal)")
        }
        #expect(
            try StoreCheck.findings(in: crashed.path) == [
                "The lane live counts 14 waiting messages with 14 samples, and has 13 with 13."
            ])
    }

    @Test func `between two parts of a check a gateway can move its log, and no row is skipped`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        let nights = (0..<95).map { night in
            let start = dawn - .days(night)
            return Sample(
                metric: .sleep, start: start, end: start + .hours(8),
                reading: .sleep(Sleep(stages: [.init(.deep, from: start, to: start + .hours(8))])))
        }
        _ = try await store.ingest(Ingest(.band, nights, lane: .history))
        try await store.close()
        let writer = try DatabaseQueue(path: folder.path)
        try await writer.write {
            try $0.execute(
                sql: "UPDATE sample SET fields = '{' WHERE start IN (?, ?, ?)",
                arguments: [nights[94].start.milliseconds, nights[60].start.milliseconds, nights[0].start.milliseconds])
        }
        var parts = 0
        let findings = try StoreCheck.findings(in: folder.path, rowsAtOnce: 10) {
            parts += 1
            let isBusy = try writer.writeWithoutTransaction { database in
                try database.execute(sql: "UPDATE store SET last_answer = last_answer")
                return try Bool.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            }
            #expect(isBusy == false, "the log is in use in part \(parts)")
        }
        #expect(parts >= CheckedTable.all.count + 9)
        #expect(
            findings
                == [94, 60, 0].map { "The sample with the start \(nights[$0].start.milliseconds) cannot be decoded." })
    }

    @Test func `a check of a store with a part's rows, or none, ends`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        #expect(try StoreCheck.findings(in: folder.path, rowsAtOnce: 1) {} == [])
        _ = try await store.ingest(Ingest(.band, (0..<10).map { beat($0, lasting: 1) }, lane: .history))
        try await store.close()
        for rows in [1, 9, 10, 11] { #expect(try StoreCheck.findings(in: folder.path, rowsAtOnce: rows) {} == []) }
    }
}
