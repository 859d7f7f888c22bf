import Concurrency
import GatewayKit
import Synchronization

/// Lines on their way to the device.
///
/// A cancelled write may make a transport close its link, since half a line is worse than none. So callers, who may be
/// cancelled at any time, hand their lines over, and a task of the session writes them whole and in order.
final class OutgoingLines: Sendable {
    private struct Entry {
        var bytes: [UInt8]
        /// The result of the write. The task that asked for it may be gone.
        let outcome = Promise<Result<Void, DeviceError>>()
    }
    private struct State {
        var waiting: [Entry] = []
        var written: [Entry] = []
        var end: DeviceError?
    }
    private let state = Mutex(State())
    private let arrival = Signal()

    /// Writes lines, and returns when the stream has taken them.
    /// - Throws: `disconnected` if the link has ended or the task is cancelled; then either nothing or all of it is
    ///   written.
    func write(_ bytes: [UInt8]) async throws(DeviceError) {
        let entry = Entry(bytes: bytes)
        let end = state.withLock { state in
            if state.end == nil { state.waiting.append(entry) }
            return state.end
        }
        if let end { throw end }
        arrival.wake()
        let result: Result<Void, DeviceError>
        do {
            result = try await entry.outcome.wait()
        } catch {
            // Takes the lines back unless they are already being written.
            state.withLock { state in state.waiting.removeAll { $0.outcome === entry.outcome } }
            throw Self.cancelled
        }
        try result.get()
    }

    /// Writes the lines handed over to `stream`, until a write fails or the task is cancelled.
    func run(_ stream: any ByteLink) async {
        while let bytes = await next() {
            do {
                try await stream.write(bytes)
            } catch {
                return end(DeviceError(.disconnected, error.message))
            }
            let written = state.withLock { state in
                defer { state.written = [] }
                return state.written
            }
            for entry in written { entry.outcome.fulfil(.success(())) }
        }
    }

    /// Fails all waiting and all later writes.
    func end(_ error: DeviceError) {
        let entries = state.withLock { state -> [Entry] in
            if state.end == nil { state.end = error }
            defer { (state.waiting, state.written) = ([], []) }
            return state.written + state.waiting
        }
        arrival.wake()
        for entry in entries { entry.outcome.fulfil(.failure(error)) }
    }

    /// Waits for lines and takes all of them, for one write; `nil` at the end.
    private func next() async -> [UInt8]? {
        while !Task.isCancelled {
            let (bytes, isOver) = state.withLock { state -> ([UInt8], Bool) in
                state.written = state.waiting
                state.waiting = []
                return (Array(state.written.map(\.bytes).joined()), state.end != nil)
            }
            if isOver { return nil }
            if !bytes.isEmpty { return bytes }
            await arrival.wait()
        }
        return nil
    }

    private static let cancelled = DeviceError(.disconnected, "The gateway cancelled the write to the device.")
}
