import Concurrency
import Synchronization

/// A folder that is watched while it is followed.
///
/// Its locks must not be inlined in a function that waits between them: Decision 165.
final class FollowedFolder: Sendable {
    private let folder: String
    private let watch: FolderWatch?
    private let signal: Signal
    private let registration: Mutex<FolderWatch.Registration?>

    /// Watches the folder from now on. Without a watch nothing happens.
    init(_ folder: String, on watch: FolderWatch?, _ signal: Signal) {
        (self.folder, self.watch, self.signal) = (folder, watch, signal)
        registration = Mutex(watch?.register(signal, in: folder))
    }

    /// Watches the folder anew, if it was replaced, or was not there.
    @inline(never)
    func renew() {
        guard let renewed = watch?.register(signal, in: folder) else { return }
        let old = registration.withLock { registration in
            defer { registration = renewed }
            return registration
        }
        if let old, old != renewed { watch?.end(old) }
    }

    /// Ends the watch of the folder.
    @inline(never)
    func end() {
        if let registration = registration.withLock({ $0 }) { watch?.end(registration) }
    }
}
