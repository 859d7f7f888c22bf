import Dispatch
import Foundation
import Glibc
import Synchronization

/// Writes log lines to a file descriptor, on its own thread: a reader that does not read holds up nothing else.
///
/// Lines wait in a bounded buffer. What does not fit, or cannot be written, as to a file on a full disk, is counted, and one
/// line says so when there is room again.
package final class LogWriter: Sendable {
    /// The bytes that wait at most: about two thousand lines, many seconds of a busy log.
    package static let capacity = 256 << 10
    /// The part of `capacity` that only warnings and errors may use: a flood of details must not hide them.
    package static let reserve = 64 << 10
    /// How long `flush` waits at most. It is part of the end of the process, which has five seconds.
    package static let flushPeriod: Duration = .milliseconds(500)

    private struct State {
        var waiting: [UInt8] = []
        /// The bytes that the thread is writing.
        var writing = 0
        var skipped = 0
        /// Whether the last write failed. The count then waits for the next line, since only a write can find out.
        var isFailing = false
        /// Given when nothing is left to write.
        var flushes: [DispatchSemaphore] = []
    }
    private enum Work {
        case bytes([UInt8])
        case none(flushes: [DispatchSemaphore])
    }
    private let state = Mutex(State())
    private let arrival = DispatchSemaphore(value: 0)
    private let descriptor: Int32
    private let notice: @Sendable (_ skipped: Int) -> String

    /// Starts the thread that writes to `descriptor`, which must stay open. `notice` makes the line that says how many
    /// lines were skipped.
    package init(descriptor: Int32, notice: @escaping @Sendable (_ skipped: Int) -> String) {
        self.descriptor = descriptor
        self.notice = notice
        let thread = Thread {
            // Signals are for the main program.
            var all = sigset_t()
            sigfillset(&all)
            pthread_sigmask(SIG_BLOCK, &all, nil)
            while true { self.writeAll() }
        }
        thread.name = "log"
        thread.start()
    }

    /// Adds a line and returns at once.
    package func write(_ line: String, isUrgent: Bool) {
        let bytes = Array(line.utf8)
        let isFirst = state.withLock { state -> Bool in
            let limit = isUrgent ? Self.capacity : Self.capacity - Self.reserve
            guard state.waiting.count + state.writing + bytes.count <= limit else {
                state.skipped += 1
                return false
            }
            let isFirst = state.waiting.isEmpty
            state.waiting += bytes
            return isFirst
        }
        if isFirst { arrival.signal() }
    }

    /// Waits until everything is written, for at most `flushPeriod`. It blocks its thread: call it at the end.
    package func flush() {
        let done = DispatchSemaphore(value: 0)
        state.withLock { $0.flushes.append(done) }
        arrival.signal()
        _ = done.wait(timeout: .now() + .milliseconds(Int(Self.flushPeriod / .milliseconds(1))))
    }

    private func writeAll() {
        arrival.wait()
        while true {
            let (work, skipped) = nextWork()
            switch work {
            case .none(let flushes):
                for flush in flushes { flush.signal() }
                return
            case .bytes(let bytes):
                var lost = lines(in: writeToEnd(bytes))
                if skipped > 0, lost > 0 || !writeToEnd(Array(notice(skipped).utf8)).isEmpty { lost += skipped }
                state.withLock { state in
                    state.skipped += lost
                    state.isFailing = lost > 0
                }
            }
        }
    }

    private func nextWork() -> (Work, skipped: Int) {
        state.withLock { state in
            let (bytes, skipped) = (state.waiting, state.skipped)
            state.waiting = []
            state.writing = bytes.count
            state.skipped = 0
            if !bytes.isEmpty || skipped > 0 && !state.isFailing { return (.bytes(bytes), skipped) }
            state.skipped = skipped
            defer { state.flushes = [] }
            return (.none(flushes: state.flushes), 0)
        }
    }

    /// The number of lines that end in these bytes.
    private func lines(in bytes: ArraySlice<UInt8>) -> Int { bytes.count { $0 == UInt8(ascii: "\n") } }

    /// Writes all bytes. Returns the rest if writing fails: the descriptor is closed at its other end, or the disk is full.
    private func writeToEnd(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count < 0, errno == EAGAIN {
                // The parent process may have made the descriptor non-blocking.
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, -1)
            } else if count == 0 || errno != EINTR {
                return rest
            }
        }
        return rest
    }
}
