import Foundation

/// The attributes of a file that show a change without reading it.
package struct FileStamp: Sendable, Hashable {
    /// The file's path.
    package let path: String
    /// Its length in bytes.
    package let size: Int64
    /// When it was written last, in nanoseconds since 1970 by the clock of its file system.
    package let modified: Int64
    /// Its number in its file system, which changes when another file gets its name.
    package let inode: UInt64

    /// The present stamp of a regular file, through symbolic links; `nil` if there is none.
    package init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        self.init(path: path, status)
    }

    /// The stamp of an open file.
    init?(of descriptor: Int32, path: String) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        self.init(path: path, status)
    }

    private init(path: String, _ status: stat) {
        self.path = path
        size = Int64(status.st_size)
        // A wrong clock can give a file any time: those after the year 2262 do not fit, and count as one.
        let (seconds, isTooLate) = Int64(status.st_mtim.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let (time, isBeyond) = seconds.addingReportingOverflow(Int64(status.st_mtim.tv_nsec))
        modified = isTooLate || isBeyond ? (status.st_mtim.tv_sec < 0 ? .min : .max) : time
        inode = UInt64(status.st_ino)
    }
}
