import Foundation
import Glibc

/// The one name of a store's file: absolute, and without symbolic links. The lock, the log, notes and copies are beside the file,
/// and are named after it. So every link to a store leads to the same lock, and what is made beside it is on the same disk.
package enum StorePath {
    /// Links that lead to links are followed so often, as the kernel does (`path_resolution(7)`).
    static let maximumLinks = 40

    /// The path without links. The file may be missing, also behind a link. Where the folder cannot be found, or the links lead in
    /// circles, it is `path` itself: opening it fails with the reason.
    package static func resolved(_ path: String) -> String {
        var current = path
        for _ in 0...maximumLinks {
            let place = URL(filePath: current)
            guard let folder = realpath(place.deletingLastPathComponent().path, nil) else { return path }
            defer { free(folder) }
            let file = URL(filePath: String(cString: folder)).appending(path: place.lastPathComponent).path
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: file) else { return file }
            current =
                target.hasPrefix("/")
                ? target : URL(filePath: String(cString: folder)).appending(path: target).path
        }
        return path
    }

    /// Whether there is something at a path that is no file, such as a folder or a device.
    package static func isOther(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
    }

    /// The files beside a store that a gateway opens for writing: its lock, SQLite's log and the index of the log.
    /// - Parameter store: a path without links.
    package static func neighbours(of store: String) -> [String] {
        [FileLock.path(of: store), store + "-wal", store + "-shm"]
    }
}

/// The owner of the files that root makes for a store. A service that runs as another user could otherwise not open a store
/// that root has restored, or that root checked.
struct StoreOwner {
    let user: uid_t
    private let group: gid_t

    /// The owner of the folder if that is another user than root, since any file in it may be somebody's link. Otherwise that of the
    /// store's file, and root's where there is none. `nil` unless root asks: others own what they make.
    init?(of store: String) {
        var status = stat()
        let folder = URL(filePath: store).deletingLastPathComponent().path
        guard geteuid() == 0, stat(folder, &status) == 0 else { return nil }
        var file = stat()
        if status.st_uid == 0, lstat(store, &file) == 0, file.st_mode & S_IFMT == S_IFREG { status = file }
        (user, group) = (status.st_uid, status.st_gid)
    }

    /// Gives the owner an open file. Where that fails, as on a file system without owners, the file stays as it is.
    func adopt(_ descriptor: Int32) { _ = fchown(descriptor, user, group) }
}
