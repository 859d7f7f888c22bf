import Foundation
import Testing

@testable import Phones

@Suite struct PlaceTests {
    private let folder: Folder
    init() throws { folder = try Folder() }

    private var place: ExportPlace {
        ExportPlace(path: folder.url.path, names: ["Gadgetbridge"], extensions: ["db", "zip"])
    }

    @Test func `the newest export of a folder counts, whatever else is in it`() throws {
        try folder.write([1], as: "Gadgetbridge", at: 100)
        try folder.write([1], as: "Gadgetbridge.DB", at: 300)
        try folder.write([1], as: "export.zip", at: 200)
        for other in [
            ".syncthing.x.db.tmp", "x.sync-conflict-20240101-1.db", "~x.db", "x.db~", ".x.db", "notes.txt", "db",
        ] {
            try folder.write([1], as: other, at: 900)
        }
        try FileManager.default.createDirectory(atPath: folder.path("later.db"), withIntermediateDirectories: true)
        #expect(try place.newest().path == folder.path("Gadgetbridge.DB"))
    }

    @Test func `says what is missing`() throws {
        let empty = #expect(throws: ExportError.self) { _ = try place.newest() }
        #expect(empty?.message.contains("has no export yet: a file Gadgetbridge, *.db, *.zip") == true)
        let nowhere = ExportPlace(path: folder.path("nowhere"), names: [], extensions: [])
        let missing = #expect(throws: ExportError.self) { _ = try nowhere.newest() }
        #expect(missing?.code == .missing && missing?.message.contains("Check the path") == true)
    }

    @Test func `a file is read when it has stood still for five seconds, and again when it changes`() throws {
        let first = try folder.write([1], as: "a.db", at: 100)
        let second = try folder.write([1, 2], as: "a.db", at: 101)
        var watch = ExportWatch()
        #expect(watch.observe(first, at: .seconds(0)) == .retryAfter(.seconds(5)))
        #expect(watch.observe(first, at: .seconds(3)) == .retryAfter(.seconds(2)))
        #expect(watch.observe(second, at: .seconds(5)) == .retryAfter(.seconds(5)))
        #expect(watch.observe(second, at: .seconds(10)) == .found(second))
        // Not checked yet: the reading was cancelled.
        #expect(watch.observe(second, at: .seconds(11)) == .found(second))
        watch.markChecked(second)
        #expect(watch.observe(second, at: .seconds(60)) == .nothing)
        #expect(watch.observe(first, at: .seconds(61)) == .retryAfter(.seconds(5)))
    }

    @Test func `a file that does not count as it is lets an older one count, until it changes`() throws {
        let older = try folder.write([1], as: "a.db", at: 100)
        let newer = try folder.write([1], as: "b.zip", at: 200)
        #expect(try place.newest(besides: [newer]) == older)
        #expect(throws: ExportError.self) { _ = try place.newest(besides: [newer, older]) }
        let changed = try folder.write([1, 2], as: "b.zip", at: 300)
        #expect(try place.newest(besides: [newer]) == changed)
    }

    @Test func `a copy that a process left behind is removed, and one in use or just begun is not`() throws {
        let old = try folder.write([1], as: "vitals2mqtt-export-old", at: 100)
        let other = try folder.write([1], as: "notes", at: 100)
        let young = folder.path("vitals2mqtt-export-young")
        try Data([1]).write(to: URL(filePath: young))
        let used = try PrivateFile(in: folder.url.path)
        var longAgo = [timeval(tv_sec: 100, tv_usec: 0), timeval(tv_sec: 100, tv_usec: 0)]
        #expect(utimes(used.path, &longAgo) == 0)
        _ = try PrivateFile(in: folder.url.path)
        #expect(FileStamp(of: old.path) == nil)
        for path in [other.path, young, used.path] { #expect(FileStamp(of: path) != nil) }
    }

    @Test func `a pipe, a socket or a link that anyone left among the copies holds up nothing, and stays`() throws {
        let other = try folder.write([1], as: "notes", at: 100)
        let names = ["pipe", "socket", "link"].map { folder.path("vitals2mqtt-export-\($0)") }
        try #require(mkfifo(names[0], 0o666) == 0 && mknod(names[1], S_IFSOCK | 0o666, 0) == 0)
        try FileManager.default.createSymbolicLink(atPath: names[2], withDestinationPath: other.path)
        _ = try PrivateFile(in: folder.url.path)
        for name in names {
            var status = stat()
            #expect(lstat(name, &status) == 0, "\(name)")
        }
        #expect(FileStamp(of: other.path) == other)
    }

    @Test func `what is no file is named as such, or is none of the exports of a folder, and nobody waits for it`()
        throws
    {
        let pipe = folder.path("pipe.db")
        try #require(mkfifo(pipe, 0o600) == 0)
        try FileManager.default.createSymbolicLink(atPath: folder.path("zero.db"), withDestinationPath: "/dev/zero")
        for path in [pipe, folder.path("zero.db")] {
            let place = ExportPlace(path: path, names: [], extensions: [])
            let error = #expect(throws: ExportError.self) { _ = try place.newest() }
            #expect(error?.message == "\(path) is no file. Name the file that the phone exports, or its folder.")
        }
        #expect(throws: ExportError.self) { _ = try place.newest() }
        let good = try folder.write([1], as: "good.db", at: 100)
        #expect(try place.newest() == good)
        // It becomes a pipe between the check and the reading.
        let file = try folder.write(try folder.database(10), as: "later.db", at: 200)
        unlink(file.path)
        try #require(mkfifo(file.path, 0o600) == 0)
        #expect(throws: ExportError.self) { _ = try ExportDatabase(copying: file, entry: "") }
    }

    @Test func `the newest of ten thousand files of a folder counts`() throws {
        for number in 0..<10_000 { close(creat(folder.path("\(number).db"), 0o600)) }
        let newest = try folder.write([1], as: "newest.db", at: 4_000_000_000)
        #expect(try place.newest() == newest)
    }
}
