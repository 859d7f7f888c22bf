import Concurrency
import Glibc
import ServiceLifecycle
import Store
import Synchronization

/// What shows whether the program has changed the folder of `devices_from`: the file of its lock, which each change makes longer.
///
/// What a person changes there shows nothing: it may be half done, so the person says when it is to be read (`SIGHUP`).
struct DeviceFolderMark: Sendable, Hashable {
    /// The folder.
    let path: String
    /// The lock's number, size and time; empty without one.
    private let file: [Int64]

    /// The mark of a folder now.
    init(of path: String) {
        self.path = path
        var status = stat()
        let isThere = lstat("\(path)/\(FolderLock.name)", &status) == 0
        file =
            isThere
            ? [
                Int64(bitPattern: UInt64(status.st_ino)), Int64(status.st_size), Int64(status.st_mtim.tv_sec),
                Int64(status.st_mtim.tv_nsec),
            ] : []
    }
}

/// Watches the folder of `devices_from` for what the program changes there, such as the command `add --write`.
final class DeviceFolderWatch: Sendable {
    /// How often the folder's mark is read: soon for a person who waits, and one call of the system for the machine. What announces
    /// changes of folders (inotify) does not reach network shares.
    static let interval: Duration = .seconds(1)

    private let last = Mutex<DeviceFolderMark?>(nil)
    /// A share that hangs holds up no other part.
    private let files = BlockingQueue(label: DeviceFolder.key)

    /// Watches the folder of a configuration from now on, as it was when that was read; none if it has none.
    func follow(_ mark: DeviceFolderMark?) { last.withLock { $0 = mark } }

    /// Whether the program has changed the folder since it was read, or since this was asked.
    func hasChanged() -> Bool {
        guard let before = last.withLock({ $0 }) else { return false }
        let now = DeviceFolderMark(of: before.path)
        guard now != before else { return false }
        last.withLock { if $0 == before { $0 = now } }
        return true
    }

    /// Waits for the next change. Returns `false` once the gateway ends.
    func change() async -> Bool {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: Self.interval, tolerance: .milliseconds(200), clock: .continuous)) != nil
            {
                if (try? await self.files.run { self.hasChanged() }) == true { return true }
            }
            return false
        }
    }
}
