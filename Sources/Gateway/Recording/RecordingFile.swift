import Dispatch
import Foundation
import Glibc
package import Recordings
import Store
import Synchronization
import Vitals

/// Why a recording could not be written.
package enum RecordingFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file exists, and a recording overwrites nothing.
    case exists(path: String)
    /// The system refused, for this reason.
    case refused(path: String, reason: String)

    /// What is wrong, and what to do.
    package var description: String {
        switch self {
        case .exists(let path): "\(path) exists already. Name a new file, or remove it."
        case .refused(let path, let reason): "The recording \(path) cannot be written: \(reason)."
        }
    }
}

/// Writes a recording to its file, on its own thread: a slow disk holds up no link.
package final class RecordingFile: Sendable {
    /// How long `close` waits for the disk at most. It is part of the end of the process.
    static let closingTime: DispatchTimeInterval = .milliseconds(500)

    /// Records links into the file.
    package let recorder: LinkRecorder
    private let path: String
    /// From which `remove` finds the file.
    private let folder: OwnedFolder?
    private let ended: @Sendable (String) -> Void
    private let isClosing = Atomic(false)
    private let lines = Atomic(0)
    private let failure = Mutex<RecordingFileError?>(nil)
    private let written = DispatchSemaphore(value: 0)

    /// Creates the file at `path`, which only its owner may read, and begins the recording. `ended` is called, on its own thread, when
    /// the recording ends before `close`, with the reason for a person.
    package convenience init(
        creating path: String, ended: @escaping @Sendable (String) -> Void
    ) throws(RecordingFileError) {
        let folder: OwnedFolder
        do throws(StoreError) { folder = try OwnedFolder(of: path) } catch {
            throw .refused(path: path, reason: String(error.message.dropLast()))
        }
        let descriptor = folder.create()
        guard descriptor >= 0 else {
            let number = errno
            if number == EEXIST { throw .exists(path: path) }
            throw .refused(path: path, reason: String(cString: strerror(number)))
        }
        self.init(path: path, in: folder, descriptor: descriptor, ended: ended)
    }

    /// Begins a recording into an open file, and closes it at the end.
    init(
        path: String, in folder: OwnedFolder? = nil, descriptor: Int32, limit: Int = LinkRecorder.maximumBytes,
        ended: @escaping @Sendable (String) -> Void
    ) {
        self.path = path
        self.folder = folder
        self.ended = ended
        let arrival = DispatchSemaphore(value: 0)
        recorder = LinkRecorder(gateway: GatewayVersion.current, limit: limit) { arrival.signal() }
        let thread = Thread { [self] in
            // Signals are for the main program.
            var all = sigset_t()
            sigfillset(&all)
            pthread_sigmask(SIG_BLOCK, &all, nil)
            writeAll(to: descriptor, arrival)
            Glibc.close(descriptor)
            written.signal()
        }
        thread.name = "recording"
        thread.start()
        arrival.signal()
    }

    /// How many lines it has, for a person. Call it after `close`.
    package var summary: String { "\(lines.load(ordering: .acquiring)) lines are in \(path)." }

    /// Removes the file, for a gateway that could not begin. Call it after `close`.
    package func remove() { folder?.remove() }

    /// Ends the recording, and waits until it is on its way to the disk. Returns why it is not whole; `nil` if it is. Call it once.
    package func close() -> RecordingFileError? {
        isClosing.store(true, ordering: .releasing)
        recorder.stop()
        guard written.wait(timeout: .now() + Self.closingTime) == .success else {
            return .refused(path: path, reason: "the disk is too slow, so its end is missing")
        }
        return failure.withLock { $0 }
    }

    /// Writes lines as they come, until the last one is written or the disk refuses one.
    private func writeAll(to descriptor: Int32, _ arrival: DispatchSemaphore) {
        while true {
            arrival.wait()
            let (bytes, isLast) = recorder.dequeue()
            if let reason = Self.write(bytes, to: descriptor) {
                let error = RecordingFileError.refused(path: path, reason: reason)
                failure.withLock { $0 = error }
                recorder.stop()
                return ended(error.description)
            }
            lines.add(bytes.count { $0 == UInt8(ascii: "\n") }, ordering: .releasing)
            guard isLast else { continue }
            if !isClosing.load(ordering: .acquiring) {
                ended("The recording \(path) has reached its size and ends here. The gateway goes on.")
            }
            return
        }
    }

    /// Writes all bytes. Returns why that failed; `nil` if it did not.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> String? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count == 0 || errno != EINTR {
                return String(cString: strerror(errno))
            }
        }
        return nil
    }
}
