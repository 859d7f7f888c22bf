import Foundation
import GRDB
import Vitals

/// A store's location on disk: what can be done with its files before and after it is open.
struct StorePlace {
    let path: String
    /// The versions that this program knows. Tests give an invented one.
    var migrator = Schema.migrator

    /// The size of a new file's pages in bytes: a commit writes whole pages, and a live sample changes a few bytes. Older
    /// files keep their 4 KiB.
    static let pageBytes = 1_024
    /// The log's size in bytes before it is moved into the main file: 16 MiB, so that a page changed by many commits is
    /// written there once.
    static let checkpointBytes = 16 << 20
    /// The log's size in bytes after it is shortened, if one long transaction or reader let it grow: 64 MiB.
    static let logBytes = 64 << 20
    /// The writer's page cache in KiB: the last pages of a thousand series. Small boards have little memory.
    static let writerCache = 2 << 10
    /// A reader's page cache in KiB.
    static let readerCache = 2 << 10
    /// The maximum wait for another program's lock. A shell that checks or backs up holds one only briefly.
    static let busyTimeout = 5.0

    /// Whether the file is missing or empty.
    var isEmpty: Bool { size(path) == 0 }

    /// The size of the main file and its log, in bytes.
    var bytes: Int64 { size(path) + size(path + "-wal") }

    private func size(_ path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Whether the file has SQLite's header (file format, section 1.3). SQLite itself treats a file shorter than its
    /// header as empty.
    /// - Throws: `StoreError` `unavailable` if the file cannot be read. It may be sound, so it must not be moved aside.
    private func hasHeader() throws(StoreError) -> Bool {
        let signature = StoreHeader.signature
        guard let file = DiskFile.open(path) else { throw unreadable(errno) }
        defer { withExtendedLifetime(file) {} }
        var bytes = [UInt8](repeating: 0, count: signature.count)
        let count = read(file.number, &bytes, bytes.count)
        guard count >= 0 else { throw unreadable(errno) }
        return bytes[..<count] == signature[...]
    }

    private func unreadable(_ error: Int32) -> StoreError {
        StoreError(
            .unavailable,
            "\(path) cannot be read: \(String(cString: strerror(error))). Check its owner and mode, and the disk.")
    }

    private var damageMark: String { path + ".damaged" }

    /// Whether the next start moves the store aside.
    var isMarkedDamaged: Bool { FileManager.default.fileExists(atPath: damageMark) }

    func removeDamageMark() { unlink(damageMark) }

    /// Leaves a mark for the next start.
    func markDamaged() { DiskFile.create(damageMark, for: StoreOwner(of: path)) }

    /// Opens the file and updates its schema.
    /// - Throws: `StoreError`: `corrupt` if the file is damaged, another code if it is intact but unusable.
    func open(newIdentity: SampleID) throws(StoreError) -> OpenStore {
        if isMarkedDamaged {
            throw StoreError(.corrupt, "The store was found to be damaged while it was used.")
        }
        guard !StorePath.isOther(path) else {
            // A folder must not be moved aside: it may hold anything.
            throw StoreError(
                .unavailable, "\(path) is no file. Set store.path to a file; it is made where it is missing.")
        }
        if !isEmpty {
            guard try hasHeader() else { throw StoreError(.corrupt, "\(path) is no SQLite database.") }
        }
        // Where that fails, SQLite says why.
        DiskFile.create(path, for: StoreOwner(of: path))
        do {
            let pool = try DatabasePool(path: path, configuration: configuration)
            do {
                return try check(pool, newIdentity: newIdentity)
            } catch {
                try? pool.close()
                throw error
            }
        } catch {
            throw StoreError(error)
        }
    }

    private var configuration: Configuration {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(Self.busyTimeout)
        configuration.maximumReaderCount = 2
        configuration.label = "store"
        configuration.prepareDatabase { database in
            if database.configuration.readonly {
                try database.execute(sql: "PRAGMA cache_size = -\(Self.readerCache)")
            } else {
                // Takes effect in a new file only.
                try database.execute(sql: "PRAGMA page_size = \(Self.pageBytes)")
                let page = try Int.fetchOne(database, sql: "PRAGMA page_size") ?? Self.pageBytes
                try database.execute(
                    sql: """
                        PRAGMA cache_size = -\(Self.writerCache);
                        PRAGMA wal_autocheckpoint = \(Self.checkpointBytes / page);
                        PRAGMA journal_size_limit = \(Self.logBytes);
                        """)
            }
        }
        return configuration
    }

    /// Makes the checks that take milliseconds for any file size: header and length (by SQLite), owner, version, and
    /// the small tables as a whole. Damage among the samples shows when they are read.
    private func check(_ pool: DatabasePool, newIdentity: SampleID) throws -> OpenStore {
        try pool.writeWithoutTransaction { database in
            try checkOwner(in: database)
            // Before the first table: a start that is cut short leaves a store that the next one knows as ours.
            if try Int64.fetchOne(database, sql: "PRAGMA application_id") != Schema.applicationID {
                try database.execute(sql: "PRAGMA application_id = \(Schema.applicationID)")
            }
        }
        let copy = try copyOldVersion(pool)
        // GRDB sets NORMAL with the WAL: a migration does not wait for the disk. A power failure may take back the last ones, each as
        // a whole, and the next start repeats them.
        try migrator.migrate(pool)
        // From here on a power failure takes back no commit.
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        try foldJournal(pool)
        return try pool.writeWithoutTransaction { database in
            let tables = [
                "store", "lane", "dropped", "journal", "device", "series", "unsettled", "alert_level", "warning",
                "erasure",
            ]
            for table in tables {
                let verdict = try String.fetchOne(database, sql: "PRAGMA quick_check(\(table))")
                guard verdict == "ok" else {
                    throw StoreError(.corrupt, "The table \(table) is damaged: \(verdict ?? "no answer").")
                }
            }
            try database.execute(
                sql: "INSERT INTO store(id, identity) VALUES (1, ?) ON CONFLICT DO NOTHING",
                arguments: [newIdentity.description])
            let text = try String.fetchOne(database, sql: "SELECT identity FROM store")
            guard let identity = text.flatMap({ SampleID($0) }) else {
                throw StoreError(.corrupt, "The store has no identity.")
            }
            return OpenStore(pool: pool, identity: identity, oldVersion: copy)
        }
    }

    /// Refuses the database of another program and of a newer version. A new file has no owner yet.
    func checkOwner(in database: Database) throws {
        let application = try Int64.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let isNew = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") == 0
        guard isNew || application == Schema.applicationID else {
            throw StoreError(.unavailable, "\(path) is the database of another program. Set another store.path.")
        }
        if try migrator.hasBeenSuperseded(database) {
            throw StoreError(
                .unavailable,
                "\(path) was made by a newer version of vitals2mqtt. Use that one, or another store.path.")
        }
    }

    /// Copies a store of an earlier version before it is changed. Returns the copy's path; `nil` if nothing changes.
    ///
    /// An existing copy stays: it may be that of a store that a backup has replaced. Only where it is the same
    /// as the new one, because the last start got no further, there is no second one.
    private func copyOldVersion(_ pool: DatabasePool) throws -> String? {
        let (applied, isComplete) = try pool.read { database in
            (try migrator.appliedIdentifiers(database), try migrator.hasCompletedMigrations(database))
        }
        guard !isComplete, let version = migrator.migrations.last(where: applied.contains) else { return nil }
        var name = "\(path).version-\(version)"
        let copy = name + ".new"
        defer { unlink(copy) }
        try StoreCopy.copy(pool, of: path, to: copy, for: StoreOwner(of: path), checksRows: false)
        let files = FileManager.default
        var count = 1
        while files.fileExists(atPath: name) {
            if files.contentsEqual(atPath: copy, andPath: name) { return name }
            count += 1
            name = "\(path).version-\(version)-\(count)"
        }
        try DiskFile.rename(copy, to: name)
        return name
    }

    /// Moves to the tables what the last run left in the journal. On a full disk it stays there until there is room.
    private func foldJournal(_ pool: DatabasePool) throws {
        do {
            try pool.writeWithoutTransaction { database in
                guard try Int.fetchOne(database, sql: "SELECT 1 FROM journal LIMIT 1") != nil else { return }
                try database.inTransaction(.immediate) {
                    try Transaction(database, cache: try WriterCache(database), isBulk: true).close()
                    return .commit
                }
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
            return
        }
    }

    /// Renames the files to make room for a new store. Returns the main file's new path; the `sqlite3` shell can open
    /// it there and recover the rest.
    /// - Parameters:
    ///   - identity: the identity of the new store.
    ///   - atStep: called before each step, where a crash may come.
    func moveDamagedFile(at now: Timestamp, for identity: SampleID, atStep: () -> Void) throws(StoreError) -> String {
        let moved = freeName("corrupt", at: now)
        atStep()
        // Before the file is moved: a crash in between must not hide the loss, nor the damage.
        var note = ResetNote.Content(reason: .damaged, moved: moved, identity: identity.description)
        try ResetNote(of: path).write(note)
        atStep()
        markDamaged()
        try move(to: moved, atStep: atStep)
        note.isMoved = true
        // Where this fails, the opening of the new store does it again.
        try? ResetNote(of: path).write(note)
        atStep()
        removeDamageMark()
        atStep()
        return moved
    }

    /// A name beside the store that no file has: `vitals.sqlite.corrupt-20261118T104512000Z`.
    func freeName(_ why: String, at now: Timestamp) -> String {
        let stamp = now.description.filter { $0.isNumber || $0 == "T" || $0 == "Z" }
        var name = "\(path).\(why)-\(stamp)"
        var count = 1
        while FileManager.default.fileExists(atPath: name) {
            count += 1
            name = "\(path).\(why)-\(stamp)-\(count)"
        }
        return name
    }

    /// Renames the main file and its log.
    /// - Parameter atStep: called before each file, and at the end.
    func move(to name: String, atStep: () -> Void) throws(StoreError) {
        do {
            // The log first: without its main file it could become part of another one. `endMove` brings it back.
            for suffix in ["-wal", "-shm", ""] where FileManager.default.fileExists(atPath: path + suffix) {
                atStep()
                try FileManager.default.moveItem(atPath: path + suffix, toPath: name + suffix)
            }
            atStep()
        } catch {
            throw StoreError(.unavailable, "The store \(path) cannot be moved aside: \(error.localizedDescription)")
        }
    }

    /// The copy that a restore is about to put in the place of the store.
    var making: String { path + ".restoring" }

    /// Ends what a crash interrupted while a store was replaced: a main file without its log gets it back, since it would
    /// lose the commits in it; a place that is free already gets the copy that was to be restored.
    func endMove(_ note: ResetNote.Content?) throws(StoreError) {
        guard let note else { return }
        let files = FileManager.default
        if let moved = note.moved, !note.isMoved, !isEmpty, !files.fileExists(atPath: moved) {
            if files.fileExists(atPath: moved + "-wal"), !files.fileExists(atPath: path + "-wal") {
                try DiskFile.rename(moved + "-wal", to: path + "-wal")
            }
            unlink(moved + "-shm")
        }
        // What is in the copy was checked and made durable before the note was written.
        if note.reason == .restored, isEmpty, files.fileExists(atPath: making) {
            removeDamageMark()
            try DiskFile.rename(making, to: path)
        }
    }
}

/// A store right after it was opened.
struct OpenStore {
    var pool: DatabasePool
    var identity: SampleID
    /// A copy of the store as it was, if it was of an earlier version.
    var oldVersion: String?
}
