import Foundation
import GRDB
package import Vitals

/// Copies of a store in one file each, without a log beside it.
package enum StoreCopy {
    /// Copies a store to a new file while a gateway may be using it. The copy is one moment of the store, and is checked as a whole.
    /// - Throws: `StoreError` if the store cannot be read or is damaged, or the file exists or cannot be written. Then there is no
    ///   file.
    package static func back(up store: String, to file: String) throws(StoreError) {
        if let reason = OwnedFolder.refusal(of: file) { throw StoreError(.unavailable, reason) }
        guard !FileManager.default.fileExists(atPath: file) else {
            throw StoreError(.unavailable, "\(file) exists. Name a new file, or remove that one.")
        }
        let folder = URL(filePath: file).deletingLastPathComponent()
        guard (try? folder.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == true else {
            throw StoreError(
                .unavailable, "The folder of \(file) does not exist. Create it, or name a file in another one.")
        }
        let target = try OwnedFolder(of: file)
        // Root's backup is root's, wherever the store's owner can write. SQLite finds files by their names, which must be safe.
        let staging = try target.isOwn ? nil : StagingFolder()
        let place: OwnedFolder
        if let staging { place = try OwnedFolder(of: staging.file) } else { place = target }
        try withReader(of: store) { source in
            let check = { (database: Database) in try StorePlace(path: store).checkOwner(in: database) }
            try copy(source, of: store, to: place.path, in: place, for: nil, checksRows: true, check: check)
        }
        try staging?.put(into: target)
    }

    /// Puts a copy in the place of a store, which is moved aside. The gateway must not be running. The restored store has a
    /// new identity, because its numbers continue those of the copy, and reports the loss at its next start.
    /// - Returns: where the replaced store is now; `nil` if there was none.
    /// - Throws: `StoreError` if a gateway uses the store, what is in its place is no file, or the copy is damaged, is none or is the
    ///   store itself. Then nothing has changed.
    package static func restore(
        _ file: String, to store: String, now: Timestamp, newIdentity: SampleID
    ) throws(StoreError) -> String? {
        try restore(file, to: store, now: now, newIdentity: newIdentity) {}
    }

    /// - Parameter atStep: called before each step after the copy is made, where a crash may come.
    static func restore(
        _ file: String, to store: String, now: Timestamp, newIdentity: SampleID, atStep: () -> Void
    ) throws(StoreError) -> String? {
        let folder = try OwnedFolder(of: store)
        let store = folder.path
        let place = StorePlace(path: store)
        guard !StorePath.isOther(store) else {
            // A folder or a device may be anything, and not what the path was to name.
            throw StoreError(.unavailable, "\(store) is no file. Name the file of the store, or a path that is free.")
        }
        guard StorePath.resolved(file) != store else {
            throw StoreError(.unavailable, "\(file) is the store itself. Name a file that `backup` has made.")
        }
        try folder.checkFile()
        let lock = try FileLock(of: folder)
        defer { withExtendedLifetime(lock) {} }
        let making = place.making
        do {
            try folder.act { DiskFile.remove(database: making) }
            try withCopy(of: file) { source in
                let check = { (database: Database) in try StorePlace(path: file).checkOwner(in: database) }
                let owner = StoreOwner(of: store)
                try copy(source, of: file, to: making, in: folder, for: owner, checksRows: true, check: check)
            }
            return try folder.act { try replace(place, by: newIdentity, now: now, atStep: atStep) }
        } catch {
            throw StoreError(error)
        }
    }

    /// Puts the checked copy in the place of the store.
    private static func replace(
        _ place: StorePlace, by newIdentity: SampleID, now: Timestamp, atStep: () -> Void
    ) throws(StoreError) -> String? {
        let (store, making) = (place.path, place.making)
        defer { DiskFile.remove(database: making) }
        try rename(storeIn: making, to: newIdentity)
        try DiskFile.synchronise(making)
        let moved = place.isEmpty ? nil : place.freeName("replaced", at: now)
        atStep()
        // Before the store is moved, so that the note survives a crash in between.
        var note = ResetNote.Content(reason: .restored, moved: moved, identity: newIdentity.description)
        try ResetNote(of: store).write(note)
        if let moved { try place.move(to: moved, atStep: atStep) } else { atStep() }
        note.isMoved = true
        try ResetNote(of: store).write(note)
        atStep()
        place.removeDamageMark()
        atStep()
        try DiskFile.rename(making, to: store)
        return moved
    }

    /// Copies everything that a connection sees to a file, checks it, and gives it its name last.
    /// - Parameters:
    ///   - store: the file that the connection reads, which an error names: the copy is gone then.
    ///   - folder: the folder of the file, in which it is written with the rights of that folder; `nil` for those of this process.
    ///   - owner: the user who gets the file, in place of this process's user.
    ///   - checksRows: whether the check looks for all that `store check` looks for, and not only at the pages.
    ///   - check: refuses what is not to be copied.
    static func copy(
        _ source: any DatabaseReader, of store: String, to file: String, in folder: OwnedFolder? = nil,
        for owner: StoreOwner?, checksRows: Bool, check: (Database) throws -> Void = { _ in }
    ) throws {
        func act(_ body: () throws -> Void) throws {
            if let folder { try folder.act(body) } else { try body() }
        }
        let making = file + ".part"
        try act {
            DiskFile.remove(database: making)
            DiskFile.create(making, for: owner)
        }
        defer { try? act { DiskFile.remove(database: making) } }
        try source.read { database in
            try check(database)
            // From here on the source is open as a whole: nothing of it is searched for by name with other rights.
            _ = try Int.fetchOne(database, sql: "PRAGMA schema_version")
            try act {
                let copy = try DatabaseQueue(path: making)
                try copy.writeWithoutTransaction { try database.backup(to: $0) }
                try copy.close()
            }
        }
        try act {
            try seal(making, of: store, checksRows: checksRows)
            try DiskFile.rename(making, to: file)
        }
    }

    /// Makes a copy one file, and checks it.
    private static func seal(_ making: String, of store: String, checksRows: Bool) throws {
        let copy = try DatabaseQueue(path: making)
        try copy.writeWithoutTransaction { database in
            // Otherwise a reader of the copy would make a log beside it.
            try database.execute(sql: "PRAGMA journal_mode = DELETE")
            if checksRows { return }
            let verdict = try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
            guard verdict == "ok" else { throw damage(of: store, verdict ?? "no answer") }
        }
        try copy.close()
        if checksRows, let finding = try StoreCheck.findings(in: making).first { throw damage(of: store, finding) }
    }

    /// Runs `body` with a connection to a copy of a store. Root reads one that stands where others can change names from a folder of
    /// its own.
    private static func withCopy<Result>(
        of file: String, _ body: (DatabaseQueue) throws -> Result
    ) throws(StoreError) -> Result {
        let origin = try OwnedFolder(of: file)
        try refuseOther(file)
        guard !origin.isOwn else { return try withReader(of: file, body) }
        let staging = try StagingFolder()
        defer { withExtendedLifetime(staging) {} }
        try staging.fetch(origin)
        return try withReader(of: staging.file, named: file, body)
    }

    /// Runs `body` with a connection that changes nothing.
    /// - Parameter name: the path for a person, if it is another one.
    static func withReader<Result>(
        of path: String, named name: String? = nil, _ body: (DatabaseQueue) throws -> Result
    ) throws(StoreError) -> Result {
        let folder = try OwnedFolder(of: path)
        try refuseOther(path)
        try folder.checkFile()
        do {
            return try folder.act { try withReader(at: folder.path, named: name ?? path, body) }
        } catch {
            throw StoreError(error)
        }
    }

    private static func refuseOther(_ path: String) throws(StoreError) {
        guard StorePath.isOther(path) else { return }
        throw StoreError(.unavailable, "\(path) is no file. Name the file of a store.")
    }

    private static func withReader<Result>(
        at path: String, named name: String, _ body: (DatabaseQueue) throws -> Result
    ) throws(StoreError) -> Result {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw StoreError(
                .unavailable,
                errno == ENOENT ? "There is no file \(name)." : "\(name): \(String(cString: strerror(errno))).")
        }
        // SQLite would wait for ever for the other end of a pipe.
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.unavailable, "\(name) is no file. Name the file of a store.")
        }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(StorePlace.busyTimeout)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -\(StorePlace.readerCache)") }
        do {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            let result = try body(queue)
            try queue.close()
            return result
        } catch {
            throw self.error(error, in: name)
        }
    }

    /// Of a damaged file the name matters: beside the store there is its copy, and only the store is moved aside.
    private static func error(_ error: any Error, in file: String) -> StoreError {
        guard let database = error as? DatabaseError,
            [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(database.resultCode)
        else { return StoreError(error) }
        return damage(of: file, database.message ?? database.resultCode.description)
    }

    private static func damage(of file: String, _ finding: String) -> StoreError {
        StoreError(.corrupt, "\(file) is damaged: \(finding.hasSuffix(".") ? finding : finding + ".")")
    }

    private static func rename(storeIn file: String, to identity: SampleID) throws(StoreError) {
        do {
            let queue = try DatabaseQueue(path: file)
            try queue.write { try $0.execute(sql: "UPDATE store SET identity = ?", arguments: [identity.description]) }
            try queue.close()
        } catch {
            throw StoreError(error)
        }
    }
}
