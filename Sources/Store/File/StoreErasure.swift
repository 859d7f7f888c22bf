import Foundation
import GRDB
import JSON
package import Vitals

/// Erases what devices have measured from a store that no gateway uses, so that no byte of it is left in the store's files.
///
/// Each step is on disk before the next one, and all of them can be done again: after a crash the erasure is asked for once more. From
/// the first step on the gateway does not take again what was erased.
package final class StoreErasure: Sendable {
    /// What is erased of a device.
    package struct Target: Sendable, Hashable {
        package var device: DeviceID
        /// Not empty.
        package var parts: Set<ErasedPart>
        /// Whether the configuration names the device. Another one goes as a whole, and nothing remembers it.
        package var isConfigured: Bool

        package init(_ device: DeviceID, _ parts: Set<ErasedPart>, isConfigured: Bool) {
            self.device = device
            self.parts = isConfigured ? parts : [.device]
            self.isConfigured = isConfigured
        }
    }

    /// How far ahead of this clock a stored sample may be that is not taken again: as far as one is taken (`SyncPolicy`).
    static let ahead: Duration = .minutes(5)
    /// The most ranges of numbers in one gap, 20 KiB of its payload.
    static let gapRanges = 500
    /// How the names of copies go on that a gateway or a restore has left beside the store.
    static let copyNames = ["corrupt-", "replaced-", "version-", "restoring"]

    private let folder: OwnedFolder
    private let lock: FileLock
    private var place: StorePlace { StorePlace(path: folder.path) }

    /// Takes the lock of a store, until this object ends.
    /// - Throws: `StoreError` if a gateway uses the store, it is missing, or it was found to be damaged.
    package init(of store: String) throws(StoreError) {
        let folder = try OwnedFolder(of: store)
        self.folder = folder
        guard !StorePlace(path: folder.path).isEmpty else {
            throw StoreError(.unavailable, "There is no store \(folder.path). Name that of the gateway.")
        }
        try folder.checkFile()
        lock = try FileLock(of: folder)
        guard !place.isMarkedDamaged else {
            throw StoreError(.corrupt, "\(folder.path) was found to be damaged. \(Self.remedy)")
        }
    }

    private static let remedy = "Start the gateway once, end it, and erase again."

    /// The copies beside a store, which have what the store had. Each file is named, also the log of a copy.
    package static func copies(of store: String) -> [String] {
        let place = URL(filePath: StorePath.resolved(store))
        let folder = place.deletingLastPathComponent()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { name in
            copyNames.contains { name.hasPrefix("\(place.lastPathComponent).\($0)") }
        }.sorted().map { folder.appending(path: $0).path }
    }

    /// The devices of a store, also those that are not configured any more. A gateway may be using it.
    package static func devices(in store: String) throws(StoreError) -> [DeviceID] {
        try StoreCopy.withReader(of: store) { queue in
            try queue.read { database in
                try StorePlace(path: store).checkOwner(in: database)
                return try String.fetchAll(database, sql: "SELECT name FROM device ORDER BY name").compactMap {
                    DeviceID($0)
                }
            }
        }
    }

    /// The rules of alerts that a person has acknowledged, also of past ones. A gateway may be using the store.
    package static func acknowledged(
        by person: String, in store: String
    ) throws(StoreError) -> [(device: DeviceID, rule: AlertRule)] {
        try StoreCopy.withReader(of: store) { queue in
            try queue.read { database in
                try StorePlace(path: store).checkOwner(in: database)
                let sql = """
                    SELECT device.name, rule, NULL FROM alert_level JOIN device ON device.id = alert_level.device
                    WHERE acknowledged_by = ?1
                    UNION ALL SELECT device.name, NULL, body FROM alert_edge JOIN device ON device.id = alert_edge.device
                    WHERE acknowledged_by = ?1
                    """
                var found: [DeviceID: Set<AlertRule>] = [:]
                for row in try Row.fetchAll(database, sql: sql, arguments: [person]) {
                    let rule: AlertRule? =
                        if let name = row[1] as String? {
                            AlertRule(name: name)
                        } else {
                            try AlertEvent(json: .kept(row.bytes(at: 2))).rule
                        }
                    guard let device = DeviceID(row[0] as String), let rule else { continue }
                    found[device, default: []].insert(rule)
                }
                return found.sorted { $0.key < $1.key }.flatMap { device, rules in
                    rules.sorted { $0.name < $1.name }.map { (device: device, rule: $0) }
                }
            }
        }
    }

    /// Erases from the store, its log and the copies beside it, which go as a whole.
    /// - Parameter person: whose acknowledgements of alerts go, too, also on other devices.
    /// - Returns: the number of samples.
    /// - Throws: `StoreError`; after a failure, do it again.
    package func erase(
        _ targets: [Target], acknowledgedBy person: String? = nil, at now: Timestamp
    ) throws(StoreError) -> Int {
        try erase(targets, acknowledgedBy: person, at: now) {}
    }

    /// - Parameter atStep: called after each step, where a crash may come.
    func erase(
        _ targets: [Target], acknowledgedBy person: String? = nil, at now: Timestamp, atStep: () -> Void
    ) throws(StoreError) -> Int {
        var count = 0
        try change { database in
            try database.inTransaction(.immediate) {
                let transaction = try Transaction(database, cache: try WriterCache(database), isBulk: true)
                for target in targets { count += try transaction.erase(target, at: now) }
                if let person { try transaction.eraseAcknowledgements(by: person) }
                try transaction.close()
                return .commit
            }
        }
        atStep()
        // Pages that were freed before, and the rest of pages, have old content.
        try change { try $0.execute(sql: "VACUUM") }
        atStep()
        try change { _ = try $0.checkpoint(.truncate) }
        atStep()
        try act {
            for copy in Self.copies(of: folder.path) {
                guard unlink(copy) == 0 || errno == ENOENT else {
                    throw StoreError(.unavailable, "\(copy) cannot be removed: \(String(cString: strerror(errno))).")
                }
                atStep()
            }
            try DiskFile.synchronise(URL(filePath: folder.path).deletingLastPathComponent().path)
        }
        return count
    }

    /// Notes that nothing is left to be done, also at the broker.
    package func complete(_ targets: [Target]) throws(StoreError) {
        try change { database in
            for target in targets {
                try database.execute(
                    sql: "UPDATE erasure SET is_complete = 1 WHERE device = (SELECT id FROM device WHERE name = ?)",
                    arguments: [target.device.text])
            }
        }
    }

    private func act(_ body: () throws -> Void) throws(StoreError) {
        do { try folder.act(body) } catch { throw StoreError(error) }
    }

    /// Changes the store with a connection of its own, whose end leaves no statement open and moves the log into the file.
    private func change(_ body: (Database) throws -> Void) throws(StoreError) {
        try act {
            // A crash may have come while the store was replaced.
            try place.endMove(ResetNote(of: folder.path).content)
            var configuration = Configuration()
            configuration.busyMode = .timeout(StorePlace.busyTimeout)
            configuration.prepareDatabase { database in
                try database.execute(
                    sql: """
                        PRAGMA secure_delete = ON;
                        PRAGMA synchronous = FULL;
                        PRAGMA cache_size = -\(StorePlace.writerCache);
                        """)
            }
            let queue = try DatabaseQueue(path: folder.path, configuration: configuration)
            try queue.writeWithoutTransaction { database in
                try place.checkOwner(in: database)
                guard try Schema.migrator.hasCompletedMigrations(database) else {
                    throw StoreError(.unavailable, "\(folder.path) was made by an older version. \(Self.remedy)")
                }
                try body(database)
            }
            try queue.close()
        }
    }
}
