import Foundation
import Glibc
import Testing
import Vitals

@testable import Store

/// Health data is for the owner of the store, in every file that is made for it.
@Suite struct StoreModeTests {
    private func modes(in folder: borrowing StoreFolder) throws -> [String: mode_t] {
        var modes: [String: mode_t] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
            var status = stat()
            try #require(stat(folder.url.appending(path: name).path, &status) == 0)
            modes[name] = status.st_mode & 0o777
        }
        return modes
    }

    @Test func `the store, its log, its lock and its copies are for their owner only`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        _ = try await store.ingest(Ingest(.band, [beat(0)]))
        try StoreCopy.back(up: folder.path, to: folder.url.appending(path: "copy").path)
        // Damage leaves a mark; the next start moves the store aside, makes another, and leaves a note.
        _ = store.file.note(StoreError(.corrupt, "a test"))
        let marked = try modes(in: folder)
        #expect(marked.keys.contains("vitals.sqlite.damaged") && marked.keys.contains("vitals.sqlite-wal"))
        try await store.close()
        let next = try folder.open()
        guard case .replacedCorrupt = next.opening else {
            Issue.record("opened as \(next.opening)")
            return
        }
        let found = try modes(in: folder)
        #expect(found.count >= 6, "\(found)")
        #expect(found.keys.contains { $0.hasSuffix(".reset") })
        for (name, mode) in marked.merging(found, uniquingKeysWith: { $1 }) { #expect(mode == 0o600, "\(name)") }
    }

    @Test func `a restored store is for its owner only, whatever the mode of the copy`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        _ = try await store.ingest(Ingest(.band, [beat(0)]))
        let copy = folder.url.appending(path: "copy").path
        try StoreCopy.back(up: folder.path, to: copy)
        try await store.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: copy)
        let now = StoreFolder.now
        _ = try StoreCopy.restore(copy, to: folder.path, now: now, newIdentity: SampleID(high: 3, low: 0))
        var found = try modes(in: folder)
        #expect(found.removeValue(forKey: "copy") == 0o644)
        for (name, mode) in found { #expect(mode == 0o600, "\(name)") }
    }

    @Test func `an existing store keeps its mode, which is its owner's decision`() async throws {
        let folder = try StoreFolder()
        try await folder.open().close()
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.path)
        let store = try folder.open()
        _ = try await store.ingest(Ingest(.band, [beat(0)]))
        let found = try modes(in: folder)
        #expect(found["vitals.sqlite"] == 0o640)
        #expect(found["vitals.sqlite-wal"] == 0o640)
    }
}
