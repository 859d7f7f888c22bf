import Engines
import Foundation
import GRDB
import Vitals

/// Where a store is on disk: what can be done with its files before and after it is open.
struct StorePlace {
    let path: String

    /// Pages of the log after which it is brought into the main file: 16 MiB, so that a page that many commits change is
    /// written there once, and not at every quarter of that, SQLite's own measure.
    static let checkpointPages = 4_000
    /// To how many bytes the log is shortened where one long transaction or reader let it grow: 64 MiB.
    static let logBytes = 64 << 20
    /// Memory for pages of the writer, in KiB: the last pages of some thousand series.
    static let writerCache = 16 << 10
    /// Memory for pages of a reader, in KiB.
    static let readerCache = 2 << 10
    /// For how long another program's lock is waited for. A shell that checks or backs up holds one for moments only.
    static let busyTimeout = 5.0

    /// Whether there is no file, or an empty one.
    var isEmpty: Bool { size(path) == 0 }

    /// Whether there is nothing at the path, or a file: no folder, and no device.
    private var isFileOrMissing: Bool {
        var status = stat()
        return stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    }

    /// The size of the main file and its log, in bytes.
    var bytes: Int64 { size(path) + size(path + "-wal") }

    private func size(_ path: String) -> Int64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }

    /// Whether the file begins as SQLite's do (file format, section 1.3). SQLite itself would take a file that is shorter than
    /// its header for an empty one.
    private var hasHeader: Bool {
        let file = FileHandle(forReadingAtPath: path)
        defer { try? file?.close() }
        return (try? file?.read(upToCount: 16)) == Data("SQLite format 3\0".utf8)
    }

    private var damageMark: String { path + ".damaged" }

    /// Leaves a mark that the next start sees.
    func markDamaged() { _ = FileManager.default.createFile(atPath: damageMark, contents: nil) }

    /// Opens the file and brings it up to date.
    /// - Throws: `StoreError` with code `corrupt` where the file is damaged; with another where it is in order but cannot be used.
    func open(newIdentity: SampleID) throws(StoreError) -> (DatabasePool, SampleID) {
        if FileManager.default.fileExists(atPath: damageMark) {
            throw StoreError(.corrupt, "The store was found to be damaged while it was used.")
        }
        guard isFileOrMissing else {
            // It must not be set aside: a folder may hold anything.
            throw StoreError(
                .unavailable, "\(path) is no file. Set store.path to a file; it is made where it is missing.")
        }
        guard isEmpty || hasHeader else {
            throw StoreError(.corrupt, "\(path) is no SQLite database.")
        }
        do {
            let pool = try DatabasePool(path: path, configuration: configuration)
            do {
                return (pool, try check(pool, newIdentity: newIdentity))
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
                try database.execute(
                    sql: """
                        PRAGMA cache_size = -\(Self.writerCache);
                        PRAGMA wal_autocheckpoint = \(Self.checkpointPages);
                        PRAGMA journal_size_limit = \(Self.logBytes);
                        """)
            }
        }
        return configuration
    }

    /// Checks what can be checked in milliseconds however large the file is: its header and length (which SQLite does), whose
    /// it is, its version, and the small tables as a whole. Damage among the samples shows when they are read.
    private func check(_ pool: DatabasePool, newIdentity: SampleID) throws -> SampleID {
        try pool.writeWithoutTransaction { database in
            let application = try Int64.fetchOne(database, sql: "PRAGMA application_id") ?? 0
            let isNew = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") == 0
            guard isNew || application == Schema.applicationID else {
                throw StoreError(.unavailable, "\(path) is the database of another program. Set another store.path.")
            }
            if try Schema.migrator.hasBeenSuperseded(database) {
                throw StoreError(
                    .unavailable,
                    "\(path) was made by a newer version of vitals2mqtt. Use that one, or another store.path.")
            }
            // GRDB sets NORMAL with the WAL, with which a commit may be lost when the power fails.
            try database.execute(sql: "PRAGMA synchronous = FULL")
        }
        try Schema.migrator.migrate(pool)
        return try pool.writeWithoutTransaction { database in
            for table in ["store", "lane", "dropped", "device", "series", "unsettled", "alert_level"] {
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
            return identity
        }
    }

    /// Renames the files, so that a new store can be made in their place. Returns where the main file is now; the `sqlite3`
    /// shell can open it there and recover what is left.
    func setAside(at now: Timestamp) throws(StoreError) -> String {
        let stamp = now.description.filter { $0.isNumber || $0 == "T" || $0 == "Z" }
        var aside = "\(path).corrupt-\(stamp)"
        var count = 1
        while FileManager.default.fileExists(atPath: aside) {
            count += 1
            aside = "\(path).corrupt-\(stamp)-\(count)"
        }
        do {
            for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
                try FileManager.default.moveItem(atPath: path + suffix, toPath: aside + suffix)
            }
            if FileManager.default.fileExists(atPath: damageMark) {
                try FileManager.default.removeItem(atPath: damageMark)
            }
        } catch {
            throw StoreError(
                .unavailable, "The damaged store \(path) cannot be set aside: \(error.localizedDescription)")
        }
        return aside
    }
}
