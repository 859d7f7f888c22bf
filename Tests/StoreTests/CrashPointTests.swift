import Foundation
import Testing
import Vitals

@testable import Store

/// A crash between any two steps of replacing a store hides no loss, reports none that has not happened, and loses nothing
/// more than the owner wanted.
@Suite struct CrashPointTests {
    /// The files of a store at each step.
    private final class Images {
        private(set) var folders: [URL] = []

        func take(_ folder: URL) {
            let copy = FileManager.default.temporaryDirectory.appending(path: "image-\(UUID().uuidString)")
            do { try FileManager.default.copyItem(at: folder, to: copy) } catch {
                Issue.record("no image: \(error)")
                return
            }
            folders.append(copy)
        }

        /// Puts the files of a step back to where they were.
        func put(_ image: URL, to folder: URL) throws {
            try FileManager.default.removeItem(at: folder)
            try FileManager.default.copyItem(at: image, to: folder)
        }

        deinit { for folder in folders { try? FileManager.default.removeItem(at: folder) } }
    }

    private func identity(_ number: UInt64) -> SampleID { SampleID(high: number, low: 0) }

    private func open(_ folder: URL, identity number: UInt64) throws -> SQLiteStore {
        try SQLiteStore(
            path: folder.appending(path: "vitals.sqlite").path, now: StoreFolder.now, newIdentity: identity(number))
    }

    /// A store after a crash: its second sample is only in its log.
    private func folderWithLog(copy: String? = nil) async throws -> StoreFolder {
        let folder = try StoreFolder()
        let store = try folder.open(identity: 5)
        _ = try await store.ingest(Ingest(.band, [beat(0, 61)]))
        if let copy { try StoreCopy.back(up: folder.path, to: copy) }
        _ = try await store.ingest(Ingest(.band, [beat(1, 62)]))
        return try folder.crashed()
    }

    /// What the owner deletes of a replaced store.
    enum Deletion: CaseIterable { case nothing, mainFile, allFiles }

    private func deleteReplaced(in folder: URL, _ deletion: Deletion = .allFiles) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where (name.contains(".replaced-") || name.contains(".corrupt-")) && deletion != .nothing
            && (deletion == .allFiles || !name.hasSuffix("-wal") && !name.hasSuffix("-shm"))
        {
            try FileManager.default.removeItem(at: folder.appending(path: name))
        }
    }

    @Test func `a new store whose first start was cut short at any commit is a new store of ours`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        let file = try Data(contentsOf: folder.url.appending(path: "vitals.sqlite"))
        let log = [UInt8](try Data(contentsOf: folder.url.appending(path: "vitals.sqlite-wal")))
        try await store.close()
        func number(at place: Int) -> Int { log[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        // The format of the log: a header, and frames of a header and a page; that of a commit names the pages of the file.
        let frame = 24 + number(at: 8)
        let commits = stride(from: 32, to: log.count, by: frame).filter { number(at: $0 + 4) > 0 }
        #expect(commits.count >= 3)
        for commit in commits {
            let crashed = try StoreFolder()
            try file.write(to: crashed.url.appending(path: "vitals.sqlite"))
            try Data(log[..<(commit + frame)]).write(to: crashed.url.appending(path: "vitals.sqlite-wal"))
            let store = try crashed.open(identity: 8)
            try await store.close()
            #expect(!StoreHeader(of: crashed.path).isOfAnotherProgram)
        }
    }

    @Test(arguments: Deletion.allCases)
    func `after a crash in a restore there is the old store with its log, or the new one with a loss to report`(
        deletion: Deletion
    ) async throws {
        let copies = try StoreFolder()
        let copy = copies.path + ".copy"
        let folder = try await folderWithLog(copy: copy)
        let images = Images()
        let url = folder.url
        _ = try StoreCopy.restore(copy, to: folder.path, now: StoreFolder.now, newIdentity: identity(6)) {
            images.take(url)
        }
        images.take(url)
        var identities: [SampleID] = []
        for image in images.folders {
            try images.put(image, to: url)
            var store = try open(url, identity: 7)
            identities.append(store.identity)
            if store.identity == identity(5) {
                #expect(store.opening == .existing)
                #expect(try await store.all().map(\.sample.value) == [61, 62])
                continue
            }
            #expect(store.identity == identity(6))
            #expect(try await store.all().map(\.sample.value) == [61])
            guard case .restored = store.opening else {
                Issue.record("opened as \(store.opening)")
                continue
            }
            try await store.close()
            try deleteReplaced(in: url, deletion)
            store = try open(url, identity: 8)
            guard case .restored = store.opening else {
                Issue.record("opened again as \(store.opening)")
                continue
            }
            // It got no commit of the replaced one.
            #expect(store.identity == identity(6))
            #expect(try await store.all().map(\.sample.value) == [61])
            store.confirmOpening()
            try await store.close()
            #expect(try open(url, identity: 9).opening == .existing)
        }
        // Before the note, after it, and between the log and the main file; then after the main file.
        #expect(identities.prefix(3).allSatisfy { $0 == identity(5) })
        #expect(identities.count { $0 == identity(6) } >= 3)
    }

    @Test(arguments: [Deletion.mainFile, .allFiles])
    func `the loss is reported where the replaced store was deleted before the first start`(
        deletion: Deletion
    ) async throws {
        let copies = try StoreFolder()
        let copy = copies.path + ".copy"
        let folder = try await folderWithLog(copy: copy)
        _ = try StoreCopy.restore(copy, to: folder.path, now: StoreFolder.now, newIdentity: identity(6))
        try deleteReplaced(in: folder.url, deletion)
        let store = try folder.open()
        guard case .restored = store.opening else {
            Issue.record("the loss is hidden")
            return
        }
        #expect(try await store.all().map(\.sample.value) == [61])
    }

    @Test func `a copy that is restored where no store was reports its loss, also without the copy`() async throws {
        let copies = try StoreFolder()
        let copy = copies.path + ".copy"
        _ = try await folderWithLog(copy: copy)
        let folder = try StoreFolder()
        #expect(
            try StoreCopy.restore(copy, to: folder.path, now: StoreFolder.now, newIdentity: identity(6)) == nil)
        try FileManager.default.removeItem(atPath: copy)
        #expect(try folder.open().opening == .restored(path: nil))
    }

    @Test(arguments: [Deletion.mainFile, .allFiles])
    func `after a crash while a damaged store is moved aside it is moved aside whole, and the loss is reported`(
        deletion: Deletion
    ) async throws {
        let folder = try await folderWithLog()
        StorePlace(path: folder.path).markDamaged()
        let images = Images()
        let url = folder.url
        _ = try StoreFile(path: folder.path, now: StoreFolder.now, newIdentity: identity(6)) { images.take(url) }
        #expect(images.folders.count >= 5)
        for image in images.folders {
            try images.put(image, to: url)
            var store = try open(url, identity: 7)
            guard case .replacedCorrupt(let moved) = store.opening else {
                Issue.record("opened as \(store.opening)")
                continue
            }
            #expect(try StoreInspection(of: moved).series.map(\.samples) == [2])
            #expect(try await store.all().isEmpty)
            // The loss is not reported yet.
            try await store.close()
            try deleteReplaced(in: url, deletion)
            store = try open(url, identity: 8)
            guard case .replacedCorrupt = store.opening else {
                Issue.record("opened again as \(store.opening)")
                continue
            }
            #expect(try await store.all().isEmpty)
            store.confirmOpening()
            try await store.close()
            #expect(try open(url, identity: 9).opening == .existing)
        }
    }

    @Test func `a note names the replaced store in any working directory`() throws {
        let folder = try StoreFolder()
        let note = ResetNote(of: folder.path)
        try note.write(.init(reason: .restored, moved: "data/vitals.sqlite.replaced-1", identity: "x"))
        let expected = FileManager.default.currentDirectoryPath + "/data/vitals.sqlite.replaced-1"
        #expect(note.content == .init(reason: .restored, moved: expected, identity: "x"))
        // The note of an earlier version: without an identity, and as its user had typed the path.
        try Data("restored\nvitals.sqlite.replaced-1\n".utf8).write(to: URL(filePath: folder.path + ".reset"))
        #expect(note.content == .init(reason: .restored, moved: folder.path + ".replaced-1", identity: nil))
    }
}
