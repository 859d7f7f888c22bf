import GatewayKit
import Synchronization

/// Lines on their way to the device.
///
/// Callers may be cancelled at any time, and a transport may close its link when a write is cancelled, since half a line is
/// worse than none. So callers do not write: what they hand over is written by a task of the session, whole and in order.
final class Outbox: Sendable {
    private struct Entry {
        var id: Int
        var bytes: [UInt8]
        /// Who waits; `nil` when the caller is gone and the line is being written all the same.
        var caller: CheckedContinuation<Result<Void, DeviceError>, Never>?
    }
    private struct State {
        var lastID = 0
        var waiting: [Entry] = []
        var written: [Entry] = []
        var end: DeviceError?
        var writer: CheckedContinuation<Void, Never>?

        /// The caller of an entry, which nobody else will resume then. What is not being written yet is taken back.
        mutating func release(_ id: Int) -> CheckedContinuation<Result<Void, DeviceError>, Never>? {
            if let index = waiting.firstIndex(where: { $0.id == id }) { return waiting.remove(at: index).caller }
            guard let index = written.firstIndex(where: { $0.id == id }) else { return nil }
            return written[index].caller.take()
        }
    }
    private let state = Mutex(State())

    /// Writes lines, and returns when the stream took them.
    /// - Throws: `disconnected` when the link has ended, or the task is cancelled: nothing was written then, or all will be.
    func write(_ bytes: [UInt8]) async throws(DeviceError) {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (caller: CheckedContinuation<Result<Void, DeviceError>, Never>) in
                let failure = state.withLock { state -> DeviceError? in
                    if let end = state.end { return end }
                    if Task.isCancelled { return Self.cancelled }
                    state.waiting.append(Entry(id: id, bytes: bytes, caller: caller))
                    state.writer.take()?.resume()
                    return nil
                }
                if let failure { caller.resume(returning: .failure(failure)) }
            }
        } onCancel: {
            state.withLock { $0.release(id) }?.resume(returning: .failure(Self.cancelled))
        }
        try result.get()
    }

    /// Writes to `stream` what is handed over, until that fails or the task is cancelled.
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
            for entry in written { entry.caller?.resume(returning: .success(())) }
        }
    }

    /// Fails what waits, and all that comes later.
    func end(_ error: DeviceError) {
        let entries = state.withLock { state -> [Entry] in
            if state.end == nil { state.end = error }
            defer { (state.waiting, state.written) = ([], []) }
            state.writer.take()?.resume()
            return state.written + state.waiting
        }
        for entry in entries { entry.caller?.resume(returning: .failure(error)) }
    }

    /// Waits for lines and takes all of them, as one write; `nil` at the end.
    private func next() async -> [UInt8]? {
        while !Task.isCancelled {
            let (bytes, isOver) = state.withLock { state -> ([UInt8], Bool) in
                state.written = state.waiting
                state.waiting = []
                return (Array(state.written.map(\.bytes).joined()), state.end != nil)
            }
            if isOver { return nil }
            if !bytes.isEmpty { return bytes }
            await withTaskCancellationHandler {
                await withCheckedContinuation { writer in
                    state.withLock { state in
                        if !state.waiting.isEmpty || state.end != nil || Task.isCancelled {
                            writer.resume()
                        } else {
                            state.writer = writer
                        }
                    }
                }
            } onCancel: {
                state.withLock { $0.writer.take()?.resume() }
            }
        }
        return nil
    }

    private static let cancelled = DeviceError(.disconnected, "The gateway gave up what it was about to say.")
}
