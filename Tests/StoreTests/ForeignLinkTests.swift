import Dispatch
import Foundation
import Glibc
import Synchronization
import Testing
import Vitals

@testable import Store

/// Root restores, copies and checks a store in a folder of another user, who may put anything there at any moment: nothing of root's
/// is changed, given away or made elsewhere.
@Suite(.enabled(if: geteuid() == 0, "only root has what others want"))
struct ForeignLinkTests {
    /// A folder of root's with a store in it, which links are to reach, and one of a service's user.
    private final class Place {
        static let user: uid_t = 65_534
        static let group: gid_t = 65_533
        let folder: StoreFolder
        var root: String { folder.url.appending(path: "root").path }
        var service: String { folder.url.appending(path: "service").path }
        var store: String { service + "/vitals.sqlite" }
        /// A backup of root's, in a folder of root's.
        var copy: String { root + "/copy" }
        /// A store of root's.
        var target: String { root + "/target" }
        /// A path of root's where nothing is.
        var missing: String { root + "/missing" }

        init() async throws {
            folder = try await StoreFolder.holding([beat(0)])
            for path in [root, service] {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            }
            for path in [copy, target] { try StoreCopy.back(up: folder.path, to: path) }
            try #require(chmod(root, 0o700) == 0 && chmod(service, 0o755) == 0)
            try #require(chown(service, Self.user, Self.group) == 0)
        }

        /// Puts a store of the user's into the user's folder.
        func makeStore() throws {
            try FileManager.default.copyItem(atPath: copy, toPath: store)
            try #require(chown(store, Self.user, Self.group) == 0)
        }

        func restore(_ file: String? = nil, to path: String? = nil) throws -> String? {
            try StoreCopy.restore(
                file ?? copy, to: path ?? store, now: StoreFolder.now, newIdentity: SampleID(high: 6, low: 0))
        }

        /// What must not change: the names in root's folder, and of each file the content, owner and mode.
        func ofRoot() throws -> [String: [String]] {
            var found: [String: [String]] = [:]
            for name in try FileManager.default.contentsOfDirectory(atPath: root) {
                let status = try #require(Self.status("\(root)/\(name)"))
                let content = try Data(contentsOf: URL(filePath: "\(root)/\(name)"))
                found[name] = [
                    "\(status.st_uid)", "\(status.st_gid)", "\(status.st_mode)", "\([UInt8](content).hashValue)",
                ]
            }
            return found
        }

        static func status(_ path: String) -> stat? {
            var status = stat()
            return lstat(path, &status) == 0 ? status : nil
        }

        func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: service).sorted() }
    }

    private func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        try #require(lchown(path, Place.user, Place.group) == 0)
    }

    /// Runs what root may do with a store, and wants each refused for a reason with this text.
    private func expectRefusals(_ text: String, of path: String, in place: Place) throws {
        let (copy, other) = (place.copy, place.root + "/other")
        let attempts: [() throws -> Void] = [
            {
                _ = try StoreCopy.restore(
                    copy, to: path, now: StoreFolder.now, newIdentity: SampleID(high: 6, low: 0))
            },
            { try StoreCopy.back(up: path, to: other) }, { _ = try StoreCheck.findings(in: path) },
            { _ = try StoreInspection(of: path) },
        ]
        for attempt in attempts {
            #expect { try attempt() } throws: { error in "\(error)".contains(text) }
        }
    }

    // MARK: Links

    @Test func `root follows no link of a user's in place of a store, and nothing changes`() async throws {
        let place = try await Place()
        let before = try place.ofRoot()
        for target in [place.target, place.missing, place.root, "vitals.sqlite"] {
            try link(place.store, to: target)
            let names = try place.names()
            try expectRefusals("is a link, and root follows only links of root's own", of: place.store, in: place)
            #expect(try place.names() == names)
            #expect((Place.status(place.store)?.st_mode ?? 0) & S_IFMT == S_IFLNK)
            unlink(place.store)
        }
        #expect(try place.ofRoot() == before)
    }

    @Test func `root follows no link of a user's in place of the lock`() async throws {
        let place = try await Place()
        try place.makeStore()
        let before = try place.ofRoot()
        for target in [place.target, place.missing] {
            try link(place.store + ".lock", to: target)
            #expect { _ = try place.restore() } throws: { "\($0)".contains(".lock cannot be opened: it is a link.") }
            #expect(throws: StoreError.self) {
                _ = try SQLiteStore(path: place.store, now: StoreFolder.now, newIdentity: SampleID(high: 2, low: 0))
            }
            #expect(try place.names() == ["vitals.sqlite", "vitals.sqlite.lock"])
            unlink(place.store + ".lock")
        }
        #expect(try place.ofRoot() == before)
    }

    @Test func `root follows no link of a user's on the way to a store, a copy or a new backup`() async throws {
        let place = try await Place()
        let way = place.service + "/way"
        try link(way, to: place.root)
        let before = try place.ofRoot()
        try expectRefusals("\(way) is a link", of: way + "/target", in: place)
        #expect { _ = try place.restore(way + "/copy") } throws: { "\($0)".contains("\(way) is a link") }
        #expect { try StoreCopy.back(up: place.target, to: way + "/new") } throws: {
            "\($0)".contains("\(way) is a link")
        }
        #expect { _ = try NewFile(way + "/new") } throws: { "\($0)".contains("\(way) is a link") }
        #expect(try place.ofRoot() == before)
    }

    @Test(arguments: [".reset", ".reset.new", ".restoring", ".restoring.part", ".damaged", "-wal", "-shm", "-journal"])
    func `a link of a user's in place of what a restore makes reaches nothing of root's`(_ suffix: String) async throws
    {
        let place = try await Place()
        let before = try place.ofRoot()
        for target in [place.target, place.missing] {
            try place.makeStore()
            try link(place.store + suffix, to: target)
            _ = try? place.restore()
            #expect(try place.ofRoot() == before, "\(target)")
            for name in try place.names() {
                #expect(Place.status("\(place.service)/\(name)")?.st_uid == Place.user, "\(name)")
                try FileManager.default.removeItem(atPath: "\(place.service)/\(name)")
            }
        }
    }

    @Test func `a link of root's in a folder that only root writes is followed, and a user's there is not`()
        async throws
    {
        let place = try await Place()
        try place.makeStore()
        let path = place.folder.url.appending(path: "mine").path
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: place.store)
        _ = try #require(try place.restore(to: path))
        #expect(try StoreCheck.findings(in: path) == [])
        for name in try place.names() {
            let status = try #require(Place.status("\(place.service)/\(name)"))
            #expect(status.st_uid == Place.user && status.st_gid == Place.group, "\(name)")
        }
        try #require(lchown(path, Place.user, Place.group) == 0)
        try expectRefusals("\(path) is a link", of: path, in: place)
    }

    // MARK: Other things in the way

    @Test func `what is no file in place of a store or its lock is refused at once, and nothing changes`() async throws
    {
        let place = try await Place()
        let makers: [(String) -> Bool] = [
            { mkfifo($0, 0o666) == 0 }, { mkdir($0, 0o777) == 0 },
            // The device null.
            { mknod($0, S_IFCHR | 0o666, 0x103) == 0 }, { mknod($0, S_IFSOCK | 0o666, 0) == 0 },
        ]
        for suffix in ["", ".lock"] {
            for maker in makers where maker(place.store + suffix) {
                let names = try place.names()
                if suffix.isEmpty { try expectRefusals("is no file", of: place.store, in: place) }
                #expect { _ = try place.restore() } throws: { "\($0)".contains(place.store + suffix) }
                #expect(try place.names() == names)
                #expect(throws: StoreError.self) { _ = try place.restore(place.store + suffix, to: place.target) }
                try FileManager.default.removeItem(atPath: place.store + suffix)
            }
        }
    }

    @Test func `a second name of root's file in place of a store or its lock is refused, and the file stays root's`()
        async throws
    {
        let place = try await Place()
        let before = try place.ofRoot()
        try #require(Glibc.link(place.target, place.store) == 0)
        try expectRefusals("has a second name", of: place.store, in: place)
        #expect { _ = try place.restore(place.store, to: place.folder.path) } throws: {
            "\($0)".contains("has a second name")
        }
        unlink(place.store)
        try place.makeStore()
        try #require(Glibc.link(place.target, place.store + ".lock") == 0)
        #expect { _ = try place.restore() } throws: { "\($0)".contains("has a second name") }
        unlink(place.store + ".lock")
        #expect(try place.ofRoot() == before)
    }

    @Test func `a store or a lock of a third user in a user's folder is refused with the command that helps`()
        async throws
    {
        let place = try await Place()
        for suffix in ["", ".lock"] {
            try place.makeStore()
            try Data().write(to: URL(filePath: place.store + ".lock"))
            try #require(chown(place.store + suffix, 4_711, 4_711) == 0)
            #expect { _ = try place.restore() } throws: {
                "\($0)".contains("belongs to the user 4711. Give it to the user who runs the gateway: chown USER ")
            }
            #expect(Place.status(place.store + suffix)?.st_uid == 4_711)
            for name in try place.names() { unlink("\(place.service)/\(name)") }
        }
    }

    @Test func `root restores nothing where others change the names of root's folder`() async throws {
        let place = try await Place()
        try place.makeStore()
        try #require(chown(place.service, 0, 0) == 0)
        for mode: mode_t in [0o777, 0o1777] {
            try #require(chmod(place.service, mode) == 0)
            try expectRefusals("Others than root may change names in ", of: place.store, in: place)
            #expect(try place.names() == ["vitals.sqlite"])
        }
    }

    // MARK: What works

    @Test func `a store in a user's folder behind one that is closed to the user is restored, checked and copied`()
        async throws
    {
        let place = try await Place()
        try place.makeStore()
        try #require(chmod(place.folder.url.path, 0o700) == 0)
        _ = try #require(try place.restore())
        #expect(try StoreCheck.findings(in: place.store) == [])
        let other = place.root + "/other"
        try StoreCopy.back(up: place.store, to: other)
        #expect(Place.status(other)?.st_uid == 0)
        let names = try place.names()
        #expect(names.count >= 4, "\(names)")
        for name in names {
            let status = try #require(Place.status("\(place.service)/\(name)"))
            #expect(status.st_uid == Place.user && status.st_gid == Place.group, "\(name)")
        }
    }

    @Test func `a backup of root's in a user's folder stays root's, and overwrites nothing and no link`() async throws {
        let place = try await Place()
        let (new, taken) = (place.service + "/new", place.service + "/taken")
        try StoreCopy.back(up: place.target, to: new)
        let status = try #require(Place.status(new))
        #expect(status.st_uid == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try StoreCheck.findings(in: new) == [])
        try link(taken, to: place.missing)
        #expect(throws: StoreError.self) { try StoreCopy.back(up: place.target, to: taken) }
        #expect(!FileManager.default.fileExists(atPath: place.missing))
        // Root restores it from there, too.
        #expect(try place.restore(new) == nil)
    }

    // MARK: Races

    /// Puts a file and a link to root's in place of each other at all names, in turns, until it is ended.
    private final class Swapper: Sendable {
        private let isOver = Atomic(false)
        private let rounds = Atomic(0)
        private let end = DispatchSemaphore(value: 0)
        /// More than any run needs: it ends also where the test does not end it.
        private static let most = 2_000_000

        var count: Int { rounds.load(ordering: .relaxed) }

        init(_ store: String, suffixes: [String], targets: [String]) {
            Thread.detachNewThread { [self] in
                let other = store + ".swap"
                while !isOver.load(ordering: .relaxed), count < Self.most {
                    let number = rounds.wrappingAdd(1, ordering: .relaxed).newValue
                    let place = store + suffixes[number / 2 % suffixes.count]
                    unlink(other)
                    if number % 2 == 0 {
                        symlink(targets[number / 2 % targets.count], other)
                        lchown(other, Place.user, Place.group)
                    } else {
                        let file = open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
                        fchown(file, Place.user, Place.group)
                        close(file)
                    }
                    rename(other, place)
                    if number % 3 == 0 { unlink(place) }
                }
                unlink(other)
                end.signal()
            }
        }

        func stop() -> Bool {
            isOver.store(true, ordering: .relaxed)
            return end.wait(timeout: .now() + 60) == .success
        }
    }

    @Test(arguments: [["", ".lock"], [".lock"], [".restoring.part", ".restoring", ".reset.new"], ["-wal", "-shm"]])
    func `a name that is a file and root's link in turns reaches nothing of root's in thousands of swaps`(
        _ suffixes: [String]
    ) async throws {
        let place = try await Place()
        try place.makeStore()
        let before = try place.ofRoot()
        let swapper = Swapper(place.store, suffixes: suffixes, targets: [place.target, place.missing])
        var restores = 0
        // Both bounds: on a slow machine few restores meet many swaps.
        while restores < 400, restores < 20 || swapper.count < 4_000 {
            restores += 1
            _ = try? place.restore()
            _ = try? StoreCheck.findings(in: place.store)
            if restores % 8 == 0 { #expect(try place.ofRoot() == before) }
        }
        #expect(swapper.stop())
        #expect(swapper.count > 1_000)
        #expect(try place.ofRoot() == before)
        for name in try place.names() where name != "vitals.sqlite.swap" {
            let status = try #require(Place.status("\(place.service)/\(name)"))
            // A link is of whoever renamed it; a file that root made is the user's.
            #expect(status.st_uid == Place.user, "\(name)")
        }
        for name in try place.names() { unlink("\(place.service)/\(name)") }
        #expect(try place.restore() == nil)
        #expect(Place.status(place.store)?.st_uid == Place.user)
    }
}

/// What holds for every user.
@Suite struct LockPlaceTests {
    @Test func `a link or a pipe in place of the lock is refused at once`() async throws {
        let folder = try await StoreFolder.holding([beat(0)])
        let (lock, other) = (folder.path + ".lock", folder.path + ".other")
        unlink(lock)
        try FileManager.default.createSymbolicLink(atPath: lock, withDestinationPath: other)
        #expect { _ = try folder.open() } throws: { "\($0)".contains("cannot be opened: it is a link.") }
        #expect(!FileManager.default.fileExists(atPath: other))
        #expect(!StoreHeader(of: folder.path).isInUse)
        unlink(lock)
        try #require(mkfifo(lock, 0o600) == 0)
        #expect { _ = try folder.open() } throws: { "\($0)".contains(".lock is no file. Remove it") }
        #expect(!StoreHeader(of: folder.path).isInUse)
        unlink(lock)
        #expect(try await folder.open().all().count == 1)
    }
}
