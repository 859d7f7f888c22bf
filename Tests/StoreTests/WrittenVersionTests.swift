import Foundation
import GRDB
import StoreAPI
import Testing
import Vitals

@testable import Store

/// Stores that a program of an earlier version wrote, as `kill -9` left them: with a journal that is not folded and a log that is
/// not in the main file. `Fixtures/written-<number>` has the two files and what `store info` of that version said of them, without path and size.
///
/// They come from two simulated wearables: some seconds with a broker and a command, a stop, and some seconds without a broker.
@Suite struct WrittenVersionTests {
    private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

    /// The lines of `store info`, but for the size and the path.
    private func info(_ inspection: StoreInspection) -> [String] {
        var lines = [
            "version   \(inspection.version)", "identity  \(inspection.identity)",
            "waiting   " + inspection.waiting.map { "\($0.lane.name) \($0.messages)" }.joined(separator: ", "),
        ]
        for series in inspection.series {
            var line = "\(series.device) \(series.metric): \(series.samples) samples, \(series.days) days"
            if let oldest = series.oldest, let newest = series.newest { line += ", \(oldest) to \(newest)" }
            lines.append(line)
        }
        return lines
    }

    /// Version 6 was the first with a journal. Each later one needs a folder, as soon as there is another after it.
    private static let versions = Schema.migrator.migrations.dropLast().filter { (Int($0) ?? 0) >= 6 }

    @Test(arguments: versions)
    func `a store as a crash of an earlier version left it loses nothing`(version: String) async throws {
        let folder = try StoreFolder()
        let fixture = Self.fixtures.appending(path: "written-\(version)")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: fixture.appending(path: "store\(suffix)").path, toPath: folder.path + suffix)
        }
        let said = try String(contentsOf: fixture.appending(path: "info.txt"), encoding: .utf8).split(separator: "\n")
            .map { String($0) }
        let before = try StoreInspection(of: folder.path)
        #expect(info(before) == said)
        let journal = try DatabaseQueue(path: folder.path)
        #expect(try await journal.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM journal") } ?? 0 > 0)
        // Open until the store is: the last one to close would move the log.
        defer { withExtendedLifetime(journal) {} }

        let store = try folder.open(identity: 9)
        #expect(store.opening == .existing)
        #expect(store.oldVersion == "\(folder.path).version-\(version)")
        let after = try StoreInspection(of: folder.path)
        #expect(info(after).dropFirst() == info(before).dropFirst())
        #expect(after.version == Schema.migrator.migrations.last)
        for (lane, count) in before.waiting {
            #expect(try await store.pending(lane, after: 0, limit: 10_000).count >= count)
            #expect(try await store.statistics().pending[lane] == count)
        }
        for device in try await store.knownDevices() {
            let record = try await store.load(device)
            #expect(record.capabilities != nil && record.twin != nil && !record.latest.isEmpty)
        }
        #expect(try StoreCheck.findings(in: folder.path) == [])
        try await store.close()
        let copy = try StoreInspection(of: "\(folder.path).version-\(version)")
        #expect(info(copy) == said)
        #expect(try StoreCheck.findings(in: "\(folder.path).version-\(version)") == [])
    }
}
