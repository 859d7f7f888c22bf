import Concurrency
import GatewayKit
import Recordings
import Synchronization
import Vitals

/// Plays the device's side of one recorded link.
final class Playback: Sendable {
    /// How long the gateway may take, beyond the recorded time, for what it had done in the recording.
    static let timeout: Duration = .seconds(60)
    /// The same for a tolerant playback of Bluetooth, which then does without it.
    static let tolerance: Duration = .seconds(5)

    private struct Waiting {
        var state: PlaybackState
        /// Fulfilled by the next change.
        var changes: [Promise<Void>] = []
        var isClosed = false
    }
    private let waiting: Mutex<Waiting>
    private let link: RecordedLink
    private let speed: Speed
    private let clock: GatewayClock
    private let beginning: Duration
    private let isTolerant: Bool

    init(_ link: RecordedLink, path: String, speed: Speed, comparison: Comparison, clock: GatewayClock) {
        self.link = link
        self.speed = speed
        self.clock = clock
        beginning = clock.uptime
        let state = PlaybackState(link, path: path, comparison: comparison)
        isTolerant = state.isTolerant
        waiting = Mutex(Waiting(state: state))
    }

    /// The gateway has left the link.
    func close() { change { $0.isClosed = true } }

    /// The gateway writes to the stream.
    func write(_ bytes: [UInt8]) throws(LinkError) {
        try change { waiting in
            Result { () throws(LinkError) in try waiting.state.write(bytes) }
        }.get()
    }

    /// Reads the stream: what was recorded next, an empty array at its end.
    func read(atMost limit: Int) async throws(LinkError) -> [UInt8] {
        while true {
            let left = change { $0.state.takeLeft(limit) }
            guard left.isEmpty else { return left }
            guard let event = try await nextFromDevice() else { return [] }
            if case .received(let bytes) = event.content { change { $0.state.enqueue(bytes.bytes) } }
        }
    }

    /// The next value that the device sends; `nil` when it ends the connection.
    func nextValue() async throws(LinkError) -> GATTValue? {
        while let event = try await nextFromDevice() {
            guard case .value(let handle, let bytes) = event.content, let found = characteristic(handle) else {
                continue
            }
            return GATTValue(characteristic: found, bytes: bytes.bytes)
        }
        return nil
    }

    /// The gateway makes a call, and gets the recorded answer.
    func call(_ call: PlayedCall) async throws(GATTError) -> [UInt8] {
        let event: Int?
        do throws(LinkError) { event = try await answer(to: call) } catch { throw .link(error) }
        guard let event, case .answer(_, let recorded) = link.events[event].content else {
            throw .refused(.requestNotSupported)
        }
        switch recorded {
        case .done(let bytes): return bytes.bytes
        case .failed(let error): throw error
        }
    }

    /// The event with the answer to a call, when it is due; `nil` if the device does not know the call.
    private func answer(to call: PlayedCall) async throws(LinkError) -> Int? {
        let answer = try change { waiting in
            Result { () throws(LinkError) in try waiting.state.call(call) }
        }.get()
        switch answer {
        case .recorded(let index):
            try await reach(index)
            return index
        case .again(let index): return index
        case .refused: return nil
        case .none: throw LinkError(.broken, "The recording ends before the device answers to \(call.text).")
        }
    }

    /// Waits for the next event that the device sends; `nil` at its end.
    /// - Throws: how the recorded link broke. `ended` where the gateway had left, or the recording was over.
    private func nextFromDevice() async throws(LinkError) -> RecordedEvent? {
        guard let next = waiting.withLock({ $0.state.next }) else {
            try await reach(link.events.count)
            throw LinkError(.ended, "The recording of this link is over.")
        }
        try await reach(next)
        // The end stays: each later read gets it again.
        if case .end(let end) = link.events[next].content {
            switch end {
            case .byDevice: return nil
            case .byGateway: throw LinkError(.ended, "The gateway left this link here when it was recorded.")
            case .broken(let error): throw error
            }
        }
        change { $0.state.dropFirstStep() }
        return link.events[next]
    }

    /// Waits until an event is due: the gateway has done what it had done before, and it is time.
    private func reach(_ event: Int) async throws(LinkError) {
        var missing: Int?
        var deadline = Duration.zero
        while true {
            let change = Promise<Void>()
            let (failure, reached) = waiting.withLock { waiting in
                let failure = waiting.state.failure ?? (waiting.isClosed ? Self.left : nil)
                if failure == nil, !waiting.state.isReached(event) { waiting.changes.append(change) }
                return (failure, waiting.state.reached)
            }
            if let failure { throw failure }
            if event <= reached { break }
            if missing != reached {
                missing = reached
                deadline = clock.uptime + allowance(for: reached)
            }
            let isChanged = await clock.withTimeout(max(.zero, deadline - clock.uptime)) { () async -> Bool in
                (try? await change.wait()) != nil
            }
            if Task.isCancelled { throw Self.left }
            if isChanged == nil { try skip(without: reached, before: event) }
        }
        let at = link.events.indices.contains(event) ? link.events[event].at : link.events.last?.at ?? link.opened
        guard case .times(let factor) = speed else { return }
        let pause = beginning + (at - link.opened) / factor - clock.uptime
        guard pause > .zero else { return }
        do { try await clock.sleep(for: pause) } catch { throw Self.left }
    }

    /// How long the gateway may take for one of its own events, after everything before it.
    private func allowance(for event: Int) -> Duration {
        let gap = link.events[event].at - (event > 0 ? link.events[event - 1].at : link.opened)
        guard isTolerant else { return gap + Self.timeout }
        return speed.scaled(gap) + Self.tolerance
    }

    /// The gateway does not do this event in time: a tolerant playback does without it, and another one ends.
    private func skip(without missing: Int, before event: Int) throws(LinkError) {
        try change { waiting -> Result<Void, LinkError> in
            guard waiting.state.reached == missing else { return .success(()) }
            guard !isTolerant else {
                waiting.state.skip()
                return .success(())
            }
            let text = waiting.state.missing(before: event)
            let error = LinkError(
                .broken, "The gateway does not do what it did in the recording. Recorded in \(text).")
            waiting.state.fail(error)
            return .failure(error)
        }.get()
    }

    private static let left = LinkError(.cancelled, "The gateway no longer waits for the device.")

    private func characteristic(_ handle: UInt16) -> GATTCharacteristic? {
        guard case .gatt(let services, _) = link.kind else { return nil }
        return services.lazy.flatMap(\.characteristics).first { $0.handle == handle }
    }

    /// Changes the state, and wakes the tasks that wait for a change.
    private func change<Value: Sendable>(_ body: (inout Waiting) -> Value) -> Value {
        let (value, changes) = waiting.withLock { waiting in
            let value = body(&waiting)
            defer { waiting.changes = [] }
            return (value, waiting.changes)
        }
        for change in changes { change.fulfil(()) }
        return value
    }
}
