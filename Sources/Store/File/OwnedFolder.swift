import Foundation
import Glibc
package import Vitals

/// The folder of a file, found without following a link that another user than root may have made, and the rights with which root uses
/// the names in it.
///
/// In another user's folder a name can become a link at any moment, also between a check and its use. So root acts there with that
/// user's rights, and refuses a folder of root's that others may write. For everybody else nothing is refused, and paths are as usual.
package final class OwnedFolder: Sendable {
    private enum Use {
        /// Nobody else can change a name in it, or on the way to it; or this is not root.
        case own
        /// Another user's.
        case of(FileRights)
        /// Root's, but others may change its names.
        case shared
    }

    /// The file's path, absolute and without links. The file may be missing.
    package let path: String
    private let use: Use
    /// The folder, from which `name` leads to the file; none where `name` is the whole path.
    let descriptor: Descriptor?
    private let name: String

    /// Finds the folder of a file.
    /// - Throws: `StoreError` `unavailable` if root would have to follow another user's link, or the folder cannot be found.
    package init(of file: String) throws(StoreError) {
        guard geteuid() == 0 else {
            path = StorePath.resolved(file)
            use = .own
            descriptor = nil
            name = path
            return
        }
        do throws(WayError) {
            let way = try Way(to: file)
            path = way.path
            descriptor = way.folder
            name = way.name
            let status = way.folder.status
            use = way.isRoots && status.isClosed ? .own : status.st_uid == 0 ? .shared : .of(FileRights(status))
        } catch {
            throw StoreError(.unavailable, error.text(for: file))
        }
    }

    /// Why root does not follow the links of a path; `nil` if it may, or is not asked to.
    package static func refusal(of file: String) -> String? {
        guard geteuid() == 0 else { return nil }
        do throws(WayError) { _ = try Way(to: file) } catch {
            if case .link = error { return error.text(for: file) }
        }
        return nil
    }

    /// Whether names in it can be used with the rights of this process: nobody else changes them.
    var isOwn: Bool { if case .own = use { true } else { false } }

    /// Runs `body` with no more rights to write than those who can change the names have. It must stay on this thread.
    /// - Throws: `StoreError` if others may write a folder of root's, or the system does not give up rights.
    func act<Result>(_ body: () throws -> Result) throws -> Result {
        guard geteuid() == 0 else { return try body() }
        let before: FileRights
        switch use {
        case .own: before = try FileRights(user: 0, group: getegid()).assume()
        case .of(let owner): before = try owner.assume()
        case .shared: throw sharing
        }
        defer { _ = try? before.assume() }
        return try body()
    }

    private var sharing: StoreError {
        let folder = URL(filePath: path).deletingLastPathComponent().path
        return StoreError(
            .unavailable,
            """
            Others than root may change names in \(folder), or on the way to it. Use a folder that only root can write, or run the \
            command as the user of the gateway.
            """)
    }

    private func open(_ suffix: String, _ flags: Int32, _ mode: mode_t = 0) -> Int32 {
        openat(descriptor?.number ?? AT_FDCWD, name + suffix, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode)
    }

    /// Creates a file that only its owner may read, with the rights of this process. Returns its descriptor; -1 with `errno`, `EEXIST`
    /// also for a link.
    package func create() -> Int32 { open("", O_WRONLY | O_CREAT | O_EXCL, DiskFile.mode) }

    /// Removes the file that `create` has made.
    package func remove() { unlinkat(descriptor?.number ?? AT_FDCWD, name, 0) }

    /// Refuses, in another user's folder, a file that is neither that user's nor root's, or has a second name, which may be that of a file
    /// elsewhere; and a folder in which root cannot `act`. A missing file is fine.
    func checkFile() throws(StoreError) {
        if case .shared = use { throw sharing }
        guard case .of(let owner) = use, let status = descriptor?.status(of: name) else { return }
        try check(status, "", users: [0, owner.user])
    }

    /// Opens the file beside this one whose name ends with `suffix`, and creates it if it is missing. The owner of the files gets it.
    func openBeside(_ suffix: String) throws(StoreError) -> Descriptor {
        let file = open(suffix, O_RDWR | O_CREAT, DiskFile.mode)
        guard file >= 0 else {
            let reason = errno == ELOOP ? "it is a link. Remove it" : String(cString: strerror(errno))
            throw StoreError(
                .unavailable, "\(path)\(suffix) cannot be opened: \(reason). Check its folder.")
        }
        let (descriptor, owner) = (Descriptor(file), StoreOwner(of: path))
        let status = descriptor.status
        try check(status, suffix, users: [0, owner?.user ?? 0])
        // What is beside a store at first is empty, so nothing that was somewhere else is given away.
        if status.st_uid != owner?.user, status.st_size == 0 { owner?.adopt(file) }
        return descriptor
    }

    /// Opens the file for reading.
    /// - Returns: `nil` if it is missing.
    /// - Throws: `StoreError` if it is a link, is no regular file, or has a second name.
    func openForReading(_ suffix: String = "") throws(StoreError) -> Descriptor? {
        let file = open(suffix, O_RDONLY)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            let reason = errno == ELOOP ? "it is a link. Name the file itself" : String(cString: strerror(errno))
            throw StoreError(.unavailable, "\(path)\(suffix) cannot be read: \(reason).")
        }
        let descriptor = Descriptor(file)
        try check(descriptor.status, suffix, users: nil)
        return descriptor
    }

    private func check(_ status: stat, _ suffix: String, users: Set<uid_t>?) throws(StoreError) {
        let file = path + suffix
        guard status.isRegular else {
            throw StoreError(.unavailable, "\(file) is no file. Remove it, or name another one.")
        }
        guard !isOwn else { return }
        guard status.st_nlink == 1 else {
            throw StoreError(
                .unavailable,
                "\(file) has a second name, which may be that of a file elsewhere. Copy it, and put the copy in its place."
            )
        }
        guard users?.contains(status.st_uid) ?? true else {
            throw StoreError(
                .unavailable,
                "\(file) belongs to the user \(status.st_uid). Give it to the user who runs the gateway: chown USER \(file)"
            )
        }
    }
}

/// An open file, which is closed with this object.
final class Descriptor: Sendable {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    deinit { close(number) }

    var status: stat {
        var status = stat()
        // An open descriptor has a status; an error leaves one that is of no user's, and not closed.
        if fstat(number, &status) != 0 { status.st_mode = 0o777 }
        return status
    }

    /// The status of a name in this folder, of a link itself; `nil` if there is none.
    func status(of name: String) -> stat? {
        var status = stat()
        return fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }
}

extension stat {
    fileprivate var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
    fileprivate var isLink: Bool { st_mode & S_IFMT == S_IFLNK }
    /// Whether only root may change the names in this folder.
    fileprivate var isClosed: Bool {
        st_uid == 0 && st_mode & 0o002 == 0 && (st_mode & 0o020 == 0 || st_gid == 0)
    }
    /// Whether others cannot change a name in this folder that belongs to root (sticky, inode(7)).
    fileprivate var keepsNamesOfRoot: Bool { isClosed || st_uid == 0 && st_mode & 0o1000 != 0 }
}

/// Why a folder is not found.
private enum WayError: Error {
    /// A link that root does not follow.
    case link(String)
    /// The system says no, with this number, at this place.
    case system(Int32, String)

    func text(for file: String) -> String {
        switch self {
        case .link(let place):
            """
            \(place) is a link, and root follows only links of root's own in folders that only root can write. Name the file itself in \
            place of \(file), or remove the link.
            """
        case .system(let number, let place):
            "There is no file \(file), since \(place) cannot be entered: \(String(cString: strerror(number)))."
        }
    }
}

/// The way of root to the folder of a file, one name after the other. Each folder is opened from the one before, so what was checked is
/// what is used.
private struct Way {
    private(set) var folder: Descriptor
    private(set) var name = "."
    /// Whether nobody but root could have changed a name on the way.
    private(set) var isRoots = true
    private var names: [String] = []

    var path: String { "/" + (names + [name]).joined(separator: "/") }

    init(to file: String) throws(WayError) {
        folder = try Self.root()
        let start = file.hasPrefix("/") ? file : FileManager.default.currentDirectoryPath + "/" + file
        // The next name is the last one.
        var rest = Self.parts(of: start)
        var links = 0
        while let next = rest.popLast() {
            if next == ".." {
                // Begun anew: the folder around this one may be another by now.
                rest += names.dropLast().reversed()
                try begin()
                continue
            }
            let place = "/" + (names + [next]).joined(separator: "/")
            if let found = folder.status(of: next), found.isLink {
                guard isRoots, folder.status.isClosed, found.st_uid == 0 else { throw .link(place) }
                links += 1
                guard links <= StorePath.maximumLinks else { throw .system(ELOOP, place) }
                let target = try Self.target(of: next, in: folder, place)
                if target.hasPrefix("/") { try begin() }
                rest += Self.parts(of: target)
            } else if rest.isEmpty {
                name = next
            } else {
                try enter(next, place)
            }
        }
    }

    private mutating func begin() throws(WayError) {
        folder = try Self.root()
        names = []
        isRoots = true
    }

    /// Goes into a folder.
    private mutating func enter(_ next: String, _ place: String) throws(WayError) {
        let number = openat(folder.number, next, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { throw .system(errno, place) }
        let (inner, outer) = (Descriptor(number), folder.status)
        isRoots = isRoots && (outer.isClosed || outer.keepsNamesOfRoot && inner.status.st_uid == 0)
        names.append(next)
        folder = inner
    }

    private static func root() throws(WayError) -> Descriptor {
        let number = Glibc.open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw .system(errno, "/") }
        return Descriptor(number)
    }

    private static func parts(of path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.map(String.init).reversed()
    }

    private static func target(of link: String, in folder: Descriptor, _ place: String) throws(WayError) -> String {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlinkat(folder.number, link, &bytes, bytes.count)
        guard count > 0 else { throw .system(errno, place) }
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
