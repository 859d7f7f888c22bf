import Foundation
import GatewayKit
import Glibc

/// The room on the file system of the store.
struct DiskSpace: Sendable, Hashable {
    /// Below it something must be done: SQLite writes its log beside the store before it folds it in, and an old store is copied before it
    /// is converted.
    static let least = 64 << 20
    /// Below it something should be done before the disk is full: other programs write, too, and a copy needs as much as the store.
    static let comfortable = 512 << 20

    /// The bytes that the process may still write.
    var bytes: Int
    /// The files that it may still make; `nil` if the file system has no such limit.
    var files: Int?

    /// The room in a folder; `nil` if the system does not say it.
    init?(of folder: String) {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return nil }
        let (product, isTooLarge) = Int(clamping: status.f_bavail).multipliedReportingOverflow(
            by: Int(clamping: status.f_frsize))
        bytes = isTooLarge ? .max : product
        files = status.f_files == 0 ? nil : Int(clamping: status.f_favail)
    }

    /// So much room.
    init(bytes: Int, files: Int?) {
        self.bytes = bytes
        self.files = files
    }

    /// What it means for a store.
    func finding(in folder: String) -> Finding {
        if files == 0 { return Finding(.problem, "disk", "\(folder) takes no more files. Remove some from this disk.") }
        let free = "\(folder) has \(bytes >> 20) MiB free"
        if bytes < Self.least {
            return Finding(
                .problem, "disk",
                "\(free). Make room: without any, nothing is stored. \(Self.comfortable >> 20) MiB are comfortable.")
        }
        if bytes < Self.comfortable {
            return Finding(.warning, "disk", "\(free). \(Self.comfortable >> 20) MiB are comfortable.")
        }
        return Finding(.fine, "disk", "\(free).")
    }
}
