import Foundation
import GRDB
import Testing
import Vitals

@testable import Store

/// Backups, restored stores and checks.
@Suite struct CopyTests {
    private static let now = StoreFolder.now

    private func identity(_ number: UInt64) -> SampleID { SampleID(high: number, low: 0) }

    private func files(_ folder: borrowing StoreFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    }

    // MARK: Backup and restore

    @Test func `a backup of a running store is one moment of it, with what is in the journal`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open(identity: 5)
        _ = try await store.ingest(Ingest(.band, (0..<300).map { beat($0) }))
        _ = try await store.ingest(Ingest(.band, [beat(1_000, 77)]))
        let copy = folder.path + ".copy"
        try StoreCopy.back(up: folder.path, to: copy)
        _ = try await store.ingest(Ingest(.band, [beat(2_000)]))
        #expect(try files(folder).filter { $0.contains("copy") } == ["vitals.sqlite.copy"])
        #expect(try StoreCheck.findings(in: copy) == [])
        let inspection = try StoreInspection(of: copy)
        #expect(inspection.series.map(\.samples) == [301])
        #expect(inspection.series.map(\.newest) == [beat(1_000).start])
        #expect(inspection.identity == identity(5).description)
        #expect { try StoreCopy.back(up: folder.path, to: copy) } throws: {
            ($0 as? StoreError)?.message.contains("exists") == true
        }
        let error = #expect(throws: StoreError.self) {
            try StoreCopy.back(up: folder.path, to: folder.path + ".none/copy")
        }
        #expect(error?.message.contains("The folder of \(folder.path).none/copy does not exist. Create it") == true)
    }

    @Test func `a restored store has what the backup had, a new identity, and a loss to report`() async throws {
        let folder = try StoreFolder()
        var store = try folder.open(identity: 5)
        _ = try await store.ingest(Ingest(.band, [beat(0, 61)]))
        let copy = folder.path + ".copy"
        try StoreCopy.back(up: folder.path, to: copy)
        _ = try await store.ingest(Ingest(.band, [beat(1, 62)]))
        #expect { try StoreCopy.restore(copy, to: folder.path, now: Self.now, newIdentity: identity(6)) } throws: {
            ($0 as? StoreError)?.message.contains("Another gateway") == true
        }
        try await store.close()
        let moved = try #require(try StoreCopy.restore(copy, to: folder.path, now: Self.now, newIdentity: identity(6)))
        #expect(try StoreInspection(of: moved).series.map(\.samples) == [2])
        store = try folder.open(identity: 7)
        #expect(store.opening == .restored(path: moved))
        #expect(store.identity == identity(6))
        #expect(try await store.all().map(\.sample.value) == [61])
        #expect(try await store.pendingFacts(.live, after: 0, limit: 9).map(\.sequence) == [1])
        try await store.close()
        store = try folder.open()
        #expect(store.opening == .restored(path: moved))
        store.confirmOpening()
        try await store.close()
        #expect(try folder.open().opening == .existing)
    }

    @Test func `what is no sound store is not restored, and nothing changes`() async throws {
        let folder = try await StoreFolder.holding([beat(0)])
        let before = try files(folder)
        let other = try StoreFolder()
        try Data("no database, but long enough to be taken for the header of one".utf8).write(
            to: URL(filePath: other.path))
        let strange = try DatabaseQueue(path: other.path + "2")
        try await strange.write { try $0.execute(sql: "CREATE TABLE mine(a)") }
        for path in [other.path, other.path + "2", other.path + "3"] {
            #expect(throws: StoreError.self) {
                try StoreCopy.restore(path, to: folder.path, now: Self.now, newIdentity: identity(6))
            }
        }
        #expect(try files(folder) == before)
        #expect(try await folder.open().all().count == 1)
    }

    @Test func `a copy that is cut off is called damaged by its name, since the store is sound`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        _ = try await store.ingest(Ingest(.band, (0..<2_000).map { beat($0) }))
        let copy = folder.path + ".copy"
        try StoreCopy.back(up: folder.path, to: copy)
        try await store.close()
        let file = try FileHandle(forUpdating: URL(filePath: copy))
        try file.truncate(atOffset: 20_000)
        try file.close()
        #expect {
            try StoreCopy.restore(copy, to: folder.path, now: Self.now, newIdentity: identity(6))
        } throws: { error in
            let message = (error as? StoreError)?.message ?? ""
            return message.hasPrefix("\(copy) is damaged: ") && !message.contains("moved aside")
        }
    }

    @Test func `a check finds a damaged page and a damaged record`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        _ = try await store.ingest(Ingest(.band, (0..<2_000).map { beat($0) }))
        #expect(try StoreCheck.findings(in: folder.path) == [])
        let root = try await store.write { transaction in
            try Int.fetchOne(transaction.database, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'sample'") ?? 0
        }
        try await store.close()
        let queue = try DatabaseQueue(path: folder.path)
        try await queue.write { try $0.execute(sql: "INSERT INTO journal(number, record) VALUES (7, x'01')") }
        try queue.close()
        #expect(try StoreCheck.findings(in: folder.path) == ["The journal's record 7 cannot be decoded."])
        var bytes = try Data(contentsOf: URL(filePath: folder.path))
        let page = StorePlace.pageBytes
        bytes.replaceSubrange((root - 1) * page..<root * page, with: Data(repeating: 0x5A, count: page))
        try bytes.write(to: URL(filePath: folder.path))
        let findings = try StoreCheck.findings(in: folder.path)
        #expect((1...StoreCheck.maximumFindings).contains(findings.count))
    }

    @Test func `a check reads the fields of samples and the quarantined facts`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        let sleep = Sample(
            metric: .sleep, start: dawn, end: dawn + .hours(8),
            reading: .sleep(Sleep(stages: [.init(.deep, from: dawn, to: dawn + .hours(8))])))
        let pressure = Sample(
            metric: .bloodPressure, start: dawn, reading: .bloodPressure(BloodPressure(systolic: 120, diastolic: 80)))
        _ = try await store.ingest(Ingest(.band, [beat(0), sleep, pressure]))
        #expect(try StoreCheck.findings(in: folder.path) == [])
        try await store.write { transaction in
            try transaction.fold()
            try transaction.database.execute(
                sql: """
                    UPDATE sample SET fields = '{"stages":[["snoring",1,2]]}'
                        WHERE series = (SELECT id FROM series WHERE metric = 'sleep');
                    UPDATE sample SET fields = NULL
                        WHERE series = (SELECT id FROM series WHERE metric = 'blood_pressure');
                    INSERT INTO quarantine(sequence, lane, kind, device, samples, made_at, body, reason, set_at)
                        VALUES (70, 2, 0, 1, 1, 9, x'FF', 'x', 9), (71, 2, 4, 1, 1, 9, x'7B', 'x', 9);
                    """)
        }
        let findings = try StoreCheck.findings(in: folder.path)
        #expect(
            findings.dropLast() == [
                "The quarantined fact 70 cannot be decoded.", "The quarantined fact 71 cannot be decoded.",
                "The sample with the start \(dawn.milliseconds) cannot be decoded.",
                "The sample with the start \(dawn.milliseconds) cannot be decoded.",
            ])
        #expect(findings.last?.hasSuffix("and there is the fact 71.") == true)
    }

    // MARK: A store that was moved aside

    @Test func `a crash before the loss is reported does not hide it`() async throws {
        let folder = try StoreFolder()
        try Data("no database at all, but long enough for a header".utf8).write(to: URL(filePath: folder.path))
        var store = try folder.open()
        let opening = store.opening
        guard case .replacedCorrupt = opening else {
            Issue.record("opened as \(opening)")
            return
        }
        try await store.close()
        store = try folder.open()
        #expect(store.opening == opening)
        store.confirmOpening()
        try await store.close()
        #expect(try folder.open().opening == .existing)
    }

    @Test func `a crash before a damaged store is moved aside reports no loss that has not happened`() async throws {
        let folder = try StoreFolder()
        _ = try await folder.open().ingest(Ingest(.band, [beat(0)]))
        try ResetNote(of: folder.path).write(
            .init(reason: .damaged, moved: folder.path + ".corrupt-1", identity: identity(9).description))
        #expect(try folder.open().opening == .existing)
    }
}
