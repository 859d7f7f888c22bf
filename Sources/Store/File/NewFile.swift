import Foundation
import Glibc
package import Vitals

/// A new file that only its owner may read, and that has its name only when it is whole: until then it is beside it, under a name that ends
/// with `.part`. Nothing that exists is replaced.
package final class NewFile {
    private let place: OwnedFolder
    private let folder: Descriptor
    private let name: String
    private let file: Descriptor
    private var isUnfinished = true

    private var making: String { name + ".part" }

    /// Begins a file.
    /// - Throws: `StoreError` if it exists, cannot be made, or root would follow a link of another user to it.
    package init(_ path: String) throws(StoreError) {
        if let reason = OwnedFolder.refusal(of: path) { throw StoreError(.unavailable, reason) }
        var status = stat()
        guard stat(URL(filePath: path).deletingLastPathComponent().path, &status) == 0 else {
            throw StoreError(
                .unavailable, "The folder of \(path) does not exist. Create it, or name a file in another one.")
        }
        place = try OwnedFolder(of: path)
        name = URL(filePath: place.path).lastPathComponent
        folder = try place.openFolder()
        guard folder.status(of: name) == nil else { throw Self.exists(path) }
        // An export that was killed left it.
        unlinkat(folder.number, name + ".part", 0)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let number = openat(folder.number, name + ".part", flags, DiskFile.mode)
        guard number >= 0 else { throw place.failure }
        file = Descriptor(number)
    }

    deinit { if isUnfinished { unlinkat(folder.number, making, 0) } }

    /// Appends bytes.
    package func write(_ bytes: [UInt8]) throws(StoreError) {
        guard OwnedFolder.write(bytes, to: file.number) else { throw place.failure }
    }

    /// Gives the file its name, after everything of it is on disk.
    package func complete() throws(StoreError) {
        guard fsync(file.number) == 0 else { throw place.failure }
        guard folder.status(of: name) == nil else { throw Self.exists(place.path) }
        guard renameat(folder.number, making, folder.number, name) == 0 else { throw place.failure }
        isUnfinished = false
        guard fsync(folder.number) == 0 else { throw place.failure }
    }

    private static func exists(_ path: String) -> StoreError {
        StoreError(.unavailable, "\(path) exists. Name a new file, or remove that one.")
    }
}
