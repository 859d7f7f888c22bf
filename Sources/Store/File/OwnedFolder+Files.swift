package import Foundation
import Glibc
package import Vitals

/// Small files that are read and written whole.
extension OwnedFolder {
    /// The system's write(2), or what a test has in its place.
    package typealias Write = (_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int

    /// The file before it has its name. What a crash has left of one is replaced by the next.
    private static let unfinished = ".new"

    /// The file's bytes, at most so many.
    /// - Returns: `nil` if it is missing.
    /// - Throws: `StoreError` as `openForReading`, or if it cannot be read.
    package func read(upTo count: Int) throws(StoreError) -> Data? {
        guard let file = try openForReading() else { return nil }
        defer { withExtendedLifetime(file) {} }
        do { return try FileHandle(fileDescriptor: file.number).read(upToCount: count) ?? Data() } catch {
            throw StoreError(.unavailable, "\(path) cannot be read: \(error.localizedDescription).")
        }
    }

    /// Writes the file whole: a new one beside it gets its name when it is on disk. Whoever may read the folder may read it.
    /// - Parameters:
    ///   - replacing: whether it takes the place of an earlier one; otherwise there must be none.
    ///   - write: the system's write(2).
    /// - Throws: `StoreError`, `full` without room on the disk. Then the earlier file is as it was.
    package func write(
        _ bytes: [UInt8], replacing: Bool, through write: Write = { Glibc.write($0, $1, $2) }
    ) throws(StoreError) {
        try change { () throws(StoreError) in
            let folder = try openFolder()
            let name = URL(filePath: path).lastPathComponent
            unlinkat(folder.number, Self.unfinished, 0)
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
            let number = openat(folder.number, Self.unfinished, flags, DiskFile.mode)
            guard number >= 0 else { throw failure }
            let file = Descriptor(number)
            defer { withExtendedLifetime(file) {} }
            do throws(StoreError) {
                guard Self.write(bytes, to: number, write), Self.share(number, as: folder.status), fsync(number) == 0
                else { throw failure }
                if !replacing, folder.status(of: name) != nil {
                    throw StoreError(.unavailable, "\(path) is there already.")
                }
                guard renameat(folder.number, Self.unfinished, folder.number, name) == 0 else { throw failure }
            } catch {
                unlinkat(folder.number, Self.unfinished, 0)
                throw error
            }
            guard fsync(folder.number) == 0 else { throw failure }
        }
    }

    /// Removes the file, also on disk.
    /// - Throws: `StoreError` if it cannot be removed.
    package func removeDurably() throws(StoreError) {
        try change { () throws(StoreError) in
            let folder = try openFolder()
            guard unlinkat(folder.number, URL(filePath: path).lastPathComponent, 0) == 0, fsync(folder.number) == 0
            else { throw failure }
        }
    }

    /// Changes the folder with the rights that `act` gives.
    private func change(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        try checkFile()
        do { try act { try body() } } catch let error as StoreError { throw error } catch {
            throw StoreError(.unavailable, "\(path) cannot be written: \(error).")
        }
    }

    func openFolder() throws(StoreError) -> Descriptor {
        if let descriptor { return descriptor }
        let folder = URL(filePath: path).deletingLastPathComponent().path
        let number = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw failure }
        return Descriptor(number)
    }

    /// What `errno` says of the last call.
    var failure: StoreError {
        let number = errno
        let isFull = number == ENOSPC || number == EDQUOT
        let remedy = isFull ? "Make room on the disk, and try again." : "Check its folder."
        return StoreError(
            isFull ? .full : .unavailable, "\(path) cannot be written: \(String(cString: strerror(number))). \(remedy)")
    }

    static func write(
        _ bytes: [UInt8], to number: Int32, _ write: Write = { Glibc.write($0, $1, $2) }
    ) -> Bool {
        bytes.withUnsafeBytes { buffer in
            var start = 0
            while start < buffer.count {
                let count = write(number, buffer.baseAddress?.advanced(by: start), buffer.count - start)
                if count > 0 { start += count } else if count == 0 || errno != EINTR { return false }
            }
            return true
        }
    }

    /// Lets those read an open file who may read its folder. Where its group cannot be the folder's, only the owner may.
    private static func share(_ number: Int32, as folder: stat) -> Bool {
        let isOfGroup = fchown(number, uid_t.max, folder.st_gid) == 0
        return fchmod(number, isOfGroup ? DiskFile.mode | folder.st_mode & 0o044 : DiskFile.mode) == 0
    }
}

/// Makes this the only program that changes the files of a folder, and counts the changes for whoever watches them.
package final class FolderLock: Sendable {
    /// Its file. Each change makes it longer by a byte, for which no disk needs room.
    package static let name = ".lock"
    private let descriptor: Descriptor

    /// Takes the lock of a folder, until this object ends.
    /// - Throws: `StoreError` if another program has it, or the folder cannot be written, or what is in the lock's place is no file.
    package init(of folder: String) throws(StoreError) {
        let path = "\(folder)/\(Self.name)"
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw StoreError(.unavailable, "\(path) is no file. Remove it.")
        }
        let place = try OwnedFolder(of: path)
        try place.checkFile()
        descriptor = try place.openBeside("")
        guard flock(descriptor.number, LOCK_EX | LOCK_NB) == 0 else {
            throw StoreError(.unavailable, "Another program changes the files in \(folder) now. Try again.")
        }
    }

    /// Counts a change. Returns whether that worked.
    package func countChange() -> Bool { ftruncate(descriptor.number, descriptor.status.st_size + 1) == 0 }

    deinit {
        // A child that was just forked holds the descriptor, too.
        flock(descriptor.number, LOCK_UN)
    }
}
