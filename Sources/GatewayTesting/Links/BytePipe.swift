import GatewayKit
import Synchronization
import Vitals

/// One direction of a scripted link: a bounded queue of bytes.
final class BytePipe: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        /// Bytes before it were read.
        var position = 0
        var sent = 0
        var end: Result<Void, LinkError>?
        var random: SplitMix64
        var reader: CheckedContinuation<Void, Never>?
        var writers: [CheckedContinuation<Void, Never>] = []

        var count: Int { bytes.count - position }

        mutating func finish(_ end: Result<Void, LinkError>) {
            if self.end == nil { self.end = end }
            reader.take()?.resume()
            resumeWriters()
        }

        mutating func resumeWriters() {
            for writer in writers { writer.resume() }
            writers = []
        }
    }
    private let state: Mutex<State>
    private let capacity: Int
    private let faults: LinkFaults
    private let clock: GatewayClock

    static let broken = LinkError(.broken, "The scripted link broke.")
    static let cancelled = LinkError(.cancelled, "The scripted link was closed by the gateway.")

    init(capacity: Int, faults: LinkFaults, clock: GatewayClock, random: SplitMix64) {
        state = Mutex(State(random: random))
        self.capacity = capacity
        self.faults = faults
        self.clock = clock
    }

    /// How many bytes are on their way.
    var count: Int { state.withLock { $0.count } }

    func finish(_ end: Result<Void, LinkError>) { state.withLock { $0.finish(end) } }

    func read(atMost limit: Int) async throws(LinkError) -> [UInt8] {
        try await waitForBytes()
        if let delay = faults.delay {
            let time = state.withLock { state in
                Duration.milliseconds(
                    Int64.random(
                        in: delay.lowerBound.inMilliseconds...delay.upperBound.inMilliseconds, using: &state.random))
            }
            do { try await clock.sleep(for: time) } catch { throw Self.cancelled }
        }
        let (bytes, end) = state.withLock { state -> ([UInt8], Result<Void, LinkError>?) in
            var count = min(limit, state.count)
            if let chunks = faults.chunks { count = min(count, Int.random(in: chunks, using: &state.random)) }
            let bytes = Array(state.bytes[state.position..<state.position + count])
            state.position += count
            if state.position == state.bytes.count {
                state.bytes.removeAll(keepingCapacity: true)
                state.position = 0
            }
            if state.count < capacity { state.resumeWriters() }
            return (bytes, state.end)
        }
        if bytes.isEmpty, let end { try end.get() }
        return bytes
    }

    func write(_ bytes: [UInt8]) async throws(LinkError) {
        while true {
            if Task.isCancelled { throw Self.cancelled }
            let outcome = state.withLock { state -> Result<Bool, LinkError> in
                if let end = state.end {
                    if case .failure(let error) = end { return .failure(error) }
                    return .failure(LinkError(.broken, "The other side closed the scripted link."))
                }
                // The last write may go over the capacity, so that the bytes of one write stay together.
                guard state.count < capacity else { return .success(false) }
                let left = (faults.breaksAfter ?? .max) - state.sent
                state.bytes += bytes.prefix(left)
                state.sent += min(bytes.count, left)
                state.reader.take()?.resume()
                guard bytes.count > left else { return .success(true) }
                state.finish(.failure(Self.broken))
                return .failure(Self.broken)
            }
            switch outcome {
            case .success(true): return
            case .success(false): await waitForRoom()
            case .failure(let error): throw error
            }
        }
    }

    private func waitForBytes() async throws(LinkError) {
        while state.withLock({ $0.count == 0 && $0.end == nil }) {
            if Task.isCancelled { throw Self.cancelled }
            await wait {
                $0.count > 0 || $0.end != nil
            } store: {
                $0.reader = $1
            }
        }
    }

    private func waitForRoom() async {
        await wait { [capacity] in
            $0.count < capacity || $0.end != nil
        } store: {
            $0.writers.append($1)
        }
    }

    private func wait(
        until isOver: @Sendable (State) -> Bool,
        store: @Sendable (inout State, CheckedContinuation<Void, Never>) -> Void
    ) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    if isOver(state) || Task.isCancelled {
                        continuation.resume()
                    } else {
                        store(&state, continuation)
                    }
                }
            }
        } onCancel: {
            // Whoever is not cancelled looks again and waits on.
            state.withLock { state in
                state.reader.take()?.resume()
                state.resumeWriters()
            }
        }
    }
}
