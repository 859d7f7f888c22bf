import Foundation
import Glibc
import Vitals

/// A user and group as whom a thread of root's uses files: setfsuid(2). Unlike other changes of user, it holds for one thread.
///
/// Root keeps the right to read and to pass folders, since a user's own folder may lie in one that is closed to the user, as in
/// `/var/lib/private` of systemd. What is written, made, renamed and removed needs the user's rights.
struct FileRights: Hashable, Sendable {
    var user: uid_t
    var group: gid_t

    init(user: uid_t, group: gid_t) {
        self.user = user
        self.group = group
    }

    /// Those of the owner of a file.
    init(_ status: stat) { self.init(user: status.st_uid, group: status.st_gid) }

    // Swift's module of the C library has neither these (sys/fsuid.h) nor capset(2).
    private static let setUser: (@convention(c) (uid_t) -> CInt)? = dlsym(nil, "setfsuid").map {
        unsafeBitCast($0, to: (@convention(c) (uid_t) -> CInt).self)
    }
    private static let setGroup: (@convention(c) (gid_t) -> CInt)? = dlsym(nil, "setfsgid").map {
        unsafeBitCast($0, to: (@convention(c) (gid_t) -> CInt).self)
    }
    private typealias Capabilities =
        @convention(c) (UnsafeMutablePointer<UInt32>?, UnsafeMutablePointer<UInt32>?) -> CInt
    private static let getCapabilities: Capabilities? = dlsym(nil, "capget").map {
        unsafeBitCast($0, to: Capabilities.self)
    }
    private static let setCapabilities: Capabilities? = dlsym(nil, "capset").map {
        unsafeBitCast($0, to: Capabilities.self)
    }

    // `_LINUX_CAPABILITY_VERSION_3` and `CAP_DAC_READ_SEARCH` (linux/capability.h).
    private static let capabilityVersion: UInt32 = 0x2008_0522
    private static let readAndSearch: UInt32 = 2

    /// Assumes these rights on this thread, and returns those before.
    /// - Throws: `StoreError` if the system refuses, as in a container whose root may not become another user.
    func assume() throws(StoreError) -> FileRights {
        guard let setUser = Self.setUser, let setGroup = Self.setGroup else { throw refusal }
        // No user has this number: it changes nothing, and the call returns the present one.
        let nobody = uid_t.max
        let before = FileRights(
            user: uid_t(bitPattern: setUser(nobody)), group: gid_t(bitPattern: setGroup(nobody)))
        guard before != self else { return before }
        // Root's further groups would go along. No command of root's needs them, so they are gone for the whole process.
        guard user == 0 || getgroups(0, nil) <= 0 || setgroups(0, nil) == 0 else { throw refusal }
        _ = setGroup(group)
        _ = setUser(user)
        guard uid_t(bitPattern: setUser(nobody)) == user, gid_t(bitPattern: setGroup(nobody)) == group else {
            _ = setUser(before.user)
            _ = setGroup(before.group)
            throw refusal
        }
        if user != 0 { Self.keepReading() }
        return before
    }

    private var refusal: StoreError {
        StoreError(
            .unavailable,
            "Root may not act as the user \(user) here, who owns the folder. Run the command as that user.")
    }

    /// The change of user took this right. Where root has not got it, the user's own have to do.
    private static func keepReading() {
        var head: [UInt32] = [capabilityVersion, 0]
        // The effective, permitted and inheritable sets: the lower 32 of each, then the upper ones.
        var sets = [UInt32](repeating: 0, count: 6)
        guard getCapabilities?(&head, &sets) == 0 else { return }
        sets[0] |= sets[1] & 1 << readAndSearch
        _ = setCapabilities?(&head, &sets)
    }
}
