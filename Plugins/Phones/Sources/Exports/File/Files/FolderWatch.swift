package import Concurrency
@preconcurrency import Dispatch  // its sources may be used from any thread
import Glibc
import Synchronization

/// Wakes tasks that wait for files of a folder, as soon as one was written or moved there (inotify(7)).
///
/// Network shares report no changes by other machines, and a folder may not exist yet: so a waiting task also checks at intervals.
package final class FolderWatch: Sendable {
    private struct State {
        /// The watched folders, by inotify's number, each with those who wait.
        var folders: [Int32: [ObjectIdentifier: Signal]] = [:]
    }
    private let descriptor: Int32
    private let source: any DispatchSourceRead
    private let state = Mutex(State())

    /// A file that was written and closed or moved into the folder, and the end of the folder itself.
    private static let events = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

    /// Opens an instance of inotify.
    /// - Throws: `unavailable` with the remedy, such as when the system's limit is reached.
    package init() throws(ExportError) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else {
            throw ExportError(
                .unavailable,
                "Folders cannot be watched: \(String(cString: strerror(errno))). Raise fs.inotify.max_user_instances.")
        }
        self.descriptor = descriptor
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global(qos: .utility))
        source.setCancelHandler { Glibc.close(descriptor) }
        source.setEventHandler { [weak self] in self?.readEvents() }
        source.activate()
    }

    deinit { source.cancel() }

    /// Wakes `signal` when something happens in `folder`, until the returned registration is ended. `nil` if the folder cannot be
    /// watched, for example since it does not exist. Calling it again with the same signal watches a folder anew that was replaced.
    package func register(_ signal: Signal, in folder: String) -> Registration? {
        // The system gives a folder one number, which must not end between the two steps.
        state.withLock { state in
            let number = inotify_add_watch(descriptor, folder, Self.events)
            guard number >= 0 else { return nil }
            state.folders[number, default: [:]][ObjectIdentifier(signal)] = signal
            return Registration(number: number, signal: signal)
        }
    }

    /// Ends a registration.
    package func end(_ registration: Registration) {
        state.withLock { state in
            state.folders[registration.number]?[ObjectIdentifier(registration.signal)] = nil
            guard state.folders[registration.number]?.isEmpty == true else { return }
            state.folders[registration.number] = nil
            inotify_rm_watch(descriptor, registration.number)
        }
    }

    /// A signal that is woken by a folder.
    package struct Registration: Sendable, Equatable {
        fileprivate let number: Int32
        fileprivate let signal: Signal

        package static func == (left: Registration, right: Registration) -> Bool {
            left.number == right.number && left.signal === right.signal
        }
    }

    private func readEvents() {
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        var woken: Set<Int32> = []
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            woken.formUnion(Self.numbers(in: buffer[..<count]))
        }
        // After an overflow (number -1) it is unknown what was lost.
        let signals = state.withLock { state in
            state.folders.filter { woken.contains(-1) || woken.contains($0.key) }.values.flatMap(\.values)
        }
        for signal in signals { signal.wake() }
    }

    /// The numbers of the folders in a buffer of events: each has a head of 16 bytes, and then a name of the length that is the
    /// head's last number.
    private static func numbers(in buffer: ArraySlice<UInt8>) -> Set<Int32> {
        var numbers: Set<Int32> = []
        var index = buffer.startIndex
        func number(at offset: Int) -> UInt32 {
            buffer[(index + offset)..<(index + offset + 4)].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
        while index + 16 <= buffer.endIndex {
            numbers.insert(Int32(bitPattern: number(at: 0)))
            index += 16 + Int(number(at: 12))
        }
        return numbers
    }
}
