import Concurrency
import GatewayKit
import Synchronization
import Vitals

/// One direction of a scripted link: a bounded queue of bytes.
final class BytePipe: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        /// The number of bytes already read.
        var position = 0
        var sent = 0
        var end: Result<Void, LinkError>?
        var random: SplitMix64

        var count: Int { bytes.count - position }

        mutating func noteEnd(_ end: Result<Void, LinkError>) { if self.end == nil { self.end = end } }
    }
    private let arrival = Signal()
    private let room = Signal()
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

    /// The number of bytes in transit.
    var count: Int { state.withLock { $0.count } }

    func finish(_ end: Result<Void, LinkError>) {
        state.withLock { $0.noteEnd(end) }
        wakeAll()
    }

    private func wakeAll() {
        arrival.wake()
        room.wake()
    }

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
            return (bytes, state.end)
        }
        room.wake()
        if bytes.isEmpty, let end { try end.get() }
        return bytes
    }

    func write(_ bytes: [UInt8]) async throws(LinkError) {
        while true {
            if Task.isCancelled { throw Self.cancelled }
            let (outcome, hasRoom) = state.withLock { state -> (Result<Bool, LinkError>, Bool) in
                if let end = state.end {
                    if case .failure(let error) = end { return (.failure(error), true) }
                    return (.failure(LinkError(.broken, "The other side closed the scripted link.")), true)
                }
                // The last write may exceed the capacity, so that the bytes of one write stay together.
                guard state.count < capacity else { return (.success(false), false) }
                let left = (faults.breaksAfter ?? .max) - state.sent
                state.bytes += bytes.prefix(left)
                state.sent += min(bytes.count, left)
                guard bytes.count > left else { return (.success(true), state.count < capacity) }
                state.noteEnd(.failure(Self.broken))
                return (.failure(Self.broken), true)
            }
            arrival.wake()
            // Wakes the next writer if there is room for more.
            if hasRoom { room.wake() }
            switch outcome {
            case .success(true): return
            case .success(false): await room.wait()
            case .failure(let error): throw error
            }
        }
    }

    private func waitForBytes() async throws(LinkError) {
        while state.withLock({ $0.count == 0 && $0.end == nil }) {
            if Task.isCancelled { throw Self.cancelled }
            await arrival.wait()
        }
    }
}

/// The faults and delays of one direction of a scripted link.
package struct LinkFaults: Sendable, Hashable {
    /// The connection breaks after this many bytes; earlier ones still arrive.
    package var breaksAfter: Int?
    /// The most bytes of each read, drawn from the range by a seed; `nil` returns all available bytes.
    package var chunks: ClosedRange<Int>?
    /// The delay of bytes, drawn from the range by a seed.
    package var delay: ClosedRange<Duration>?

    /// Creates faults; none by default.
    package init(breaksAfter: Int? = nil, chunks: ClosedRange<Int>? = nil, delay: ClosedRange<Duration>? = nil) {
        self.breaksAfter = breaksAfter
        self.chunks = chunks
        self.delay = delay
    }

    /// No faults.
    package static let none = LinkFaults()
}
