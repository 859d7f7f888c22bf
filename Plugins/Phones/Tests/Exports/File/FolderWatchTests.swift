import Concurrency
import Foundation
import Testing

@testable import Phones

/// Real folders, and the system's events about them.
@Suite(.timeLimit(.minutes(1))) struct FolderWatchTests {
    @Test func `a file that is written or moved there wakes whoever waits`() async throws {
        let folder = try Folder()
        let watch = try FolderWatch()
        let signal = Signal()
        let registration = try #require(watch.register(signal, in: folder.url.path))
        try folder.write([1, 2, 3], as: "Gadgetbridge.part")
        await signal.wait()
        try FileManager.default.moveItem(
            atPath: folder.path("Gadgetbridge.part"), toPath: folder.path("Gadgetbridge.db"))
        await signal.wait()
        watch.end(registration)
    }

    @Test func `only those who wait for that folder are woken, each of them`() async throws {
        let (folder, other) = (try Folder(), try Folder())
        let watch = try FolderWatch()
        let (one, two, stranger) = (Signal(), Signal(), Signal())
        _ = try #require(watch.register(one, in: folder.url.path))
        _ = try #require(watch.register(two, in: folder.url.path))
        _ = try #require(watch.register(stranger, in: other.url.path))
        try folder.write([1], as: "Gadgetbridge.db")
        await one.wait()
        await two.wait()
        // Had it been woken, this would return at once.
        let isWoken: Void? = await race(against: {}) { await stranger.wait() }
        #expect(isWoken == nil)
    }

    @Test func `the end of the folder wakes, and one that is not there cannot be watched`() async throws {
        let folder = try Folder()
        let watch = try FolderWatch()
        let inner = folder.path("inner")
        let signal = Signal()
        #expect(watch.register(signal, in: inner) == nil)
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
        _ = try #require(watch.register(signal, in: inner))
        try FileManager.default.removeItem(atPath: inner)
        await signal.wait()
        try folder.write([1], as: "file")
        #expect(watch.register(signal, in: folder.path("file")) == nil)
    }

    @Test func `a registration that has ended leaves no watch`() throws {
        let folder = try Folder()
        let watch = try FolderWatch()
        // More than the system allows by default, one after the other.
        for _ in 0..<20_000 {
            let registration = try #require(watch.register(Signal(), in: folder.url.path))
            watch.end(registration)
        }
    }
}
