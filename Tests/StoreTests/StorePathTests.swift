import Foundation
import Glibc
import Testing
import Vitals

@testable import Store

/// A store that is reached over a symbolic link is the same store, and what root makes for it belongs to its owner.
@Suite struct StorePathTests {
    /// Puts a link to `disk/real.sqlite` in the place of the store, and returns the path of that file, which is missing.
    private func link(in folder: borrowing StoreFolder) throws -> String {
        let disk = folder.url.appending(path: "disk")
        try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: folder.path, withDestinationPath: "disk/real.sqlite")
        return disk.appending(path: "real.sqlite").path
    }

    private func status(_ path: String) throws -> stat {
        var status = stat()
        try #require(lstat(path, &status) == 0, "\(path)")
        return status
    }

    private func isRefused(_ body: () throws -> Void) -> Bool {
        do { try body() } catch { return "\(error)".contains("Another gateway uses this store") }
        return false
    }

    @Test func `a path has no links, is absolute, and may lead to a missing file`() throws {
        let folder = try StoreFolder()
        let real = try link(in: folder)
        let resolved = try #require(realpath(folder.url.path, nil))
        defer { free(resolved) }
        let root = String(cString: resolved)
        #expect(StorePath.resolved(folder.path) == "\(root)/disk/real.sqlite")
        #expect(StorePath.resolved(real) == "\(root)/disk/real.sqlite")
        #expect(StorePath.resolved("vitals.sqlite") == FileManager.default.currentDirectoryPath + "/vitals.sqlite")
        #expect(StorePath.resolved("/nowhere/here/a") == "/nowhere/here/a")
        let circle = folder.url.appending(path: "circle").path
        try FileManager.default.createSymbolicLink(atPath: circle, withDestinationPath: "circle")
        #expect(StorePath.resolved(circle) == circle)
    }

    @Test func `a link and its file are one store, which one gateway uses and nobody replaces meanwhile`() async throws
    {
        let folder = try StoreFolder()
        let real = try link(in: folder)
        let store = try folder.open()
        _ = try await store.ingest(Ingest(.band, [beat(0)]))
        let copy = folder.url.appending(path: "copy").path
        try StoreCopy.back(up: folder.path, to: copy)
        for path in [real, folder.path] {
            #expect(
                isRefused {
                    _ = try SQLiteStore(path: path, now: StoreFolder.now, newIdentity: SampleID(high: 2, low: 0))
                }, "\(path)")
            #expect(
                isRefused {
                    _ = try StoreCopy.restore(
                        copy, to: path, now: StoreFolder.now, newIdentity: SampleID(high: 2, low: 0))
                }, "\(path)")
            #expect(StoreHeader(of: path).isInUse, "\(path)")
        }
        try await store.close()
    }

    @Test func `a store behind a link to a missing file is for its owner only, and all that is made is beside it`()
        async throws
    {
        let folder = try StoreFolder()
        let real = try link(in: folder)
        let store = try folder.open()
        _ = try await store.ingest(Ingest(.band, [beat(0)]))
        #expect(try status(real).st_mode & 0o777 == 0o600)
        #expect(try status(real + "-wal").st_mode & 0o777 == 0o600)
        _ = store.file.note(StoreError(.corrupt, "a test"))
        try await store.close()
        let next = try folder.open()
        guard case .replacedCorrupt(let moved) = next.opening else {
            Issue.record("opened as \(next.opening)")
            return
        }
        #expect(moved.hasPrefix(real + ".corrupt-"))
        #expect(try status(folder.path).st_mode & S_IFMT == S_IFLNK)
        #expect(try status(moved).st_mode & S_IFMT == S_IFREG)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == ["disk", "vitals.sqlite"])
        try await next.close()
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func `what root makes for a store belongs to the store's owner, and to the folder's where there is no store`()
        async throws
    {
        let folder = try StoreFolder()
        var store = try folder.open()
        let copy = folder.url.appending(path: "copy").path
        try StoreCopy.back(up: folder.path, to: copy)
        try await store.close()
        let (user, group): (uid_t, gid_t) = (65_534, 65_533)
        // The store is the user's; a lock of root's is left.
        try #require(chown(folder.path, user, group) == 0)
        let identity = SampleID(high: 3, low: 0)
        _ = try StoreCopy.restore(copy, to: folder.path, now: StoreFolder.now, newIdentity: identity)
        for suffix in ["", ".lock"] {
            let found = try status(folder.path + suffix)
            #expect(found.st_uid == user && found.st_gid == group, "\(suffix)")
        }
        // No store, in a folder of the user's.
        try #require(chown(folder.url.path, user, group) == 0)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) where name != "copy" {
            try FileManager.default.removeItem(at: folder.url.appending(path: name))
        }
        _ = try StoreCopy.restore(copy, to: folder.path, now: StoreFolder.now, newIdentity: identity)
        for suffix in ["", ".lock", ".reset"] {
            let found = try status(folder.path + suffix)
            #expect(found.st_uid == user && found.st_gid == group, "\(suffix)")
        }
        store = try folder.open()
        _ = try await store.ingest(Ingest(.band, [beat(0)]))
        #expect(try status(folder.path + "-wal").st_uid == user)
        try await store.close()
    }

    @Test func `a pipe or a folder in the place of a store or of a copy is refused at once`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        try await store.close()
        let pipe = folder.url.appending(path: "pipe").path
        try #require(mkfifo(pipe, 0o600) == 0)
        for path in [pipe, folder.url.path] {
            let refusals: [() throws -> Void] = [
                { try StoreCopy.back(up: path, to: folder.path + ".copy") },
                {
                    _ = try StoreCopy.restore(
                        path, to: folder.path, now: StoreFolder.now, newIdentity: SampleID(high: 2, low: 0))
                },
                { _ = try StoreInspection(of: path) }, { _ = try StoreCheck.findings(in: path) },
            ]
            for refusal in refusals {
                #expect { try refusal() } throws: { "\($0)".contains("is no file. Name the file of a store.") }
            }
        }
    }
}
