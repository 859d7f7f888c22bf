package import Glibc

/// The mode and owner of a file, which decide who may use it (inode(7)).
package struct FileMode: Sendable, Hashable {
    /// Whom a file must serve: a process with this user and these groups.
    package struct Reader: Sendable, Hashable {
        package var user: uid_t
        package var groups: Set<gid_t>

        package init(user: uid_t, groups: Set<gid_t>) {
            self.user = user
            self.groups = groups
        }

        /// This process.
        package static var process: Reader {
            var groups = [gid_t](repeating: 0, count: max(0, Int(getgroups(0, nil))))
            let count = getgroups(Int32(groups.count), &groups)
            return Reader(user: geteuid(), groups: Set(groups.prefix(max(0, Int(count)))).union([getegid()]))
        }
    }

    /// The permission bits, with the sticky one and its like.
    package var bits: mode_t
    package var owner: uid_t
    package var group: gid_t

    package init(bits: mode_t, owner: uid_t, group: gid_t) {
        self.bits = bits
        self.owner = owner
        self.group = group
    }

    /// The mode of a file, or of a symbolic link's target; `nil` if it is unknown.
    package init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(bits: status.st_mode & 0o7777, owner: status.st_uid, group: status.st_gid)
    }

    /// Why a secret is not safe in such a file at `path`, with the command that helps; `nil` if only the reader has it.
    ///
    /// A file of another owner, such as root, may be readable by a group of the reader: that is how it reads the file.
    package func exposure(of path: String, to reader: Reader = .process) -> String? {
        let isReadByGroup = owner != reader.user && reader.groups.contains(group) && bits & 0o040 != 0
        if bits & 0o007 != 0 {
            let keepsAccess = owner == reader.user || reader.user == 0
            let command =
                keepsAccess
                ? "chmod 600 \(path)"
                : isReadByGroup ? "chmod 640 \(path)" : "chown \(reader.user) \(path) && chmod 600 \(path)"
            return "Every user of this machine may use \(path). Run: \(command)"
        }
        guard bits & 0o070 != 0, !isReadByGroup else { return nil }
        return "The group \(group) may use \(path). Run: chmod 600 \(path)"
    }

    /// Whether every user may write.
    package var isWritableByAll: Bool { bits & 0o002 != 0 }

    /// Whether only the owner may enter this folder, so that the modes inside do not matter.
    package var isClosedFolder: Bool { bits & 0o011 == 0 }
}
