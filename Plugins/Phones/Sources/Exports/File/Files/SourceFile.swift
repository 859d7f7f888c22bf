import Foundation

/// A file that another program may change, open for reading. Two reads may see different contents.
final class SourceFile {
    /// The most bytes of one read.
    static let chunk = 256 * 1024

    let stamp: FileStamp
    private let descriptor: Int32

    /// Opens a file. What took its name since it was checked, such as a pipe, holds nobody up, and is torn.
    /// - Throws: `torn` if it is not the file that was checked, `unavailable` if it cannot be opened.
    init(_ expected: FileStamp) throws(ExportError) {
        descriptor = open(expected.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .system("cannot be opened", expected.path, errno) }
        stamp = expected
        do throws(ExportError) { try checkUnchanged() } catch {
            // `deinit` runs only for a whole object.
            throw error
        }
    }

    deinit { close(descriptor) }

    /// - Throws: `torn` if the file, or the file behind its name, is another one since it was checked.
    func checkUnchanged() throws(ExportError) {
        guard FileStamp(of: descriptor, path: stamp.path) == stamp, FileStamp(of: stamp.path) == stamp else {
            throw ExportError(.torn, "\(stamp.path) changed while it was read.")
        }
    }

    /// The bytes of a range, all of them.
    /// - Throws: `torn` if the file ends before.
    func read(at offset: Int64, count: Int) throws(ExportError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let got = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress?.advanced(by: done), count - done, off_t(offset) + off_t(done))
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw .system("cannot be read", stamp.path, errno) }
            guard got > 0 else { throw ExportError(.torn, "\(stamp.path) ends before its time.") }
            done += got
        }
        return bytes
    }
}

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
