import Foundation
import GRDB
import Glibc
import Testing
import Vitals

@testable import Store

/// What is neither moved aside nor replaced nor copied, since it may be sound, may be something else, or is damaged.
@Suite struct RefusalTests {
    private let identity = SampleID(high: 6, low: 0)

    private func files(_ folder: borrowing StoreFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    }

    private func restore(_ copy: String, to path: String) throws {
        _ = try StoreCopy.restore(copy, to: path, now: StoreFolder.now, newIdentity: identity)
    }

    /// Runs `body` as a user who is not root, as far as files are concerned: setfsuid(2) holds for this thread only. Swift's module of
    /// glibc does not have it.
    private func asOther(_ body: () -> Void) throws {
        let symbol = try #require(dlsym(nil, "setfsuid"))
        let setUser = unsafeBitCast(symbol, to: (@convention(c) (uid_t) -> Int32).self)
        _ = setUser(65_534)
        defer { _ = setUser(geteuid()) }
        body()
    }

    @Test func `a store that cannot be read is not called damaged, and stays where it is`() async throws {
        let folder = try await StoreFolder.holding([beat(0)])
        let before = try files(folder)
        try #require(chmod(folder.url.path, 0o777) == 0 && chmod(folder.path, 0) == 0)
        try asOther {
            #expect {
                _ = try StorePlace(path: folder.path).open(newIdentity: identity)
            } throws: { error in
                let error = error as? StoreError
                return error?.code == .unavailable
                    && error?.message.contains("cannot be read: Permission denied. Check its owner and mode") == true
            }
        }
        #expect(try files(folder) == before)
        try #require(chmod(folder.path, 0o600) == 0)
        #expect(try await folder.open().all().count == 1)
    }

    @Test func `a restore replaces no folder, no pipe and no device, and needs another file than the store`()
        async throws
    {
        let folder = try StoreFolder()
        let store = try folder.open()
        let copy = folder.path + ".copy"
        try StoreCopy.back(up: folder.path, to: copy)
        try await store.close()
        let (place, pipe) = (folder.path + ".folder", folder.path + ".pipe")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        try #require(mkfifo(pipe, 0o600) == 0)
        let before = try files(folder)
        for path in [place, pipe] {
            #expect { try restore(copy, to: path) } throws: {
                "\($0)" == "\(StorePath.resolved(path)) is no file. Name the file of the store, or a path that is free."
            }
        }
        let link = folder.url.appending(path: "link").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path)
        for path in [folder.path, link] {
            #expect { try restore(path, to: folder.path) } throws: { "\($0)".contains("is the store itself.") }
        }
        #expect(try files(folder) == (before + ["link"]).sorted())
    }

    /// A damaged store is neither copied nor put in the place of another one.
    private func expectDamage(_ finding: String, in damaged: String) async throws {
        #expect(try StoreCheck.findings(in: damaged).first?.contains(finding) == true)
        let folder = try await StoreFolder.holding([beat(0)])
        let before = try files(folder)
        let attempts: [() throws -> Void] = [
            { try StoreCopy.back(up: damaged, to: folder.path + ".copy") }, { try restore(damaged, to: folder.path) },
        ]
        for attempt in attempts {
            // The copy is gone, so its name says nothing.
            #expect { try attempt() } throws: { error in
                "\(error)".hasPrefix("\(damaged) is damaged: ") && "\(error)".contains(finding)
            }
        }
        #expect(try files(folder) == before)
        #expect(try await folder.open().all().count == 1)
    }

    @Test func `a store with a wrong counter is neither copied nor restored`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        _ = try await store.ingest(Ingest(.band, [beat(0)]))
        try await store.write { try $0.fold() }
        try await store.close()
        let queue = try DatabaseQueue(path: folder.path)
        try await queue.write { try $0.execute(sql: "UPDATE lane SET messages = 7 WHERE lane = 2") }
        try queue.close()
        try await expectDamage("The lane live counts 7 waiting messages", in: folder.path)
    }

    @Test func `a store with a damaged index is neither copied nor restored`() async throws {
        let folder = try await StoreFolder.holding([beat(0)])
        let index = "sqlite_autoindex_device_1"
        let queue = try DatabaseQueue(path: folder.path)
        let root = try await queue.read { database in
            try Int.fetchOne(database, sql: "SELECT rootpage FROM sqlite_master WHERE name = ?", arguments: [index])
        }
        try queue.close()
        // SQLite's quick check does not compare an index with its table.
        var bytes = try Data(contentsOf: URL(filePath: folder.path))
        let page = StorePlace.pageBytes
        let end = try #require(root) * page
        let name = try #require(bytes.range(of: Data(DeviceID.band.text.utf8), in: end - page..<end))
        bytes[name.upperBound - 1] = UInt8(ascii: "?")
        try bytes.write(to: URL(filePath: folder.path))
        try await expectDamage(index, in: folder.path)
    }
}
