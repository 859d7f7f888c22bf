package import GatewayKit
import Synchronization
package import Vitals

/// Records what happens on links, for `vitals2mqtt run --record`.
///
/// A link never waits for it: lines wait in a bounded buffer until `take` takes them for the file. If the disk is too slow, whole lines are
/// skipped, and one line says how many. At `maximumBytes` the recording ends, and the links continue.
package final class LinkRecorder: Sendable {
    /// The most bytes of a recording: a day of ten straps that send once a second, or 30 MB of a fast stream. It fits into an attachment
    /// when it is compressed.
    package static let maximumBytes = 64 << 20
    /// The most bytes that wait for the disk: some seconds of hundred devices.
    package static let capacity = 4 << 20
    /// The room that is kept for the last lines.
    static let lastLine = 256

    private let state: Mutex<RecorderState>
    private let clock: GatewayClock
    private let beginning: Duration
    private let arrival: @Sendable () -> Void

    /// Begins a recording of this version of the gateway. `arrival` is called, and must not wait, when there may be lines to take.
    package init(
        gateway: String, clock: GatewayClock = .system, limit: Int = LinkRecorder.maximumBytes,
        capacity: Int = LinkRecorder.capacity, arrival: @escaping @Sendable () -> Void = {}
    ) {
        self.clock = clock
        self.arrival = arrival
        beginning = clock.uptime
        state = Mutex(
            RecorderState(.header(gateway: gateway, began: clock.now), limit: limit, capacity: capacity))
    }

    /// Takes the lines that wait for the file; `isLast` if no more will come.
    package func dequeue() -> (bytes: [UInt8], isLast: Bool) {
        state.withLock { state in (state.dequeue(), state.isOver) }
    }

    /// Ends the recording. What happens later is not recorded.
    package func stop() { change { state, now in state.stop(at: now) } }

    /// Runs `body` with a link that records what happens on `link`. Links of documents, and those without a peer, are not recorded.
    package func recording(
        _ link: Link, of device: DeviceID, driver: String, mask: Mask, _ body: @Sendable (Link) async throws -> Void
    ) async throws {
        let kind: RecordedLink.Kind
        switch link {
        case .none, .documents: return try await body(link)
        case .bytes: kind = .bytes
        case .gatt(let link): kind = .gatt(link.services, maximumPayload: link.maximumPayload)
        }
        let number = change { state, now in
            state.open(
                RecordedLink(number: 0, device: device, driver: driver, kind: kind, opened: now), mask)
        }
        guard let number else { return try await body(link) }
        let track = LinkTrack(recorder: self, number: number)
        defer { track.end(.byGateway) }
        switch link {
        case .bytes(let link): try await body(.bytes(RecordedByteLink(link, track)))
        case .gatt(let link): try await body(.gatt(RecordedGATTLink(link, track)))
        case .none, .documents: break
        }
    }

    /// Changes the state at this moment, in the order of the calls.
    func change<Value: Sendable>(_ body: (inout RecorderState, Duration) -> Value) -> Value {
        let now = Duration.milliseconds((clock.uptime - beginning).inMilliseconds)
        let value = state.withLock { state in
            let moment = state.moment(now)
            return body(&state, moment)
        }
        arrival()
        return value
    }
}

/// A link's place in the recording.
struct LinkTrack: Sendable {
    let recorder: LinkRecorder
    let number: Int

    func sent(_ bytes: [UInt8]) { recorder.change { state, now in state.sent(bytes, on: number, at: now) } }
    func received(_ bytes: [UInt8]) { recorder.change { state, now in state.received(bytes, on: number, at: now) } }
    func end(_ end: RecordedEnd) { recorder.change { state, now in state.end(end, on: number, at: now) } }

    /// A call begins. Returns its number.
    func call(_ make: (Mask) -> RecordedCall) -> Int {
        recorder.change { state, now in state.call(on: number, at: now, make) }
    }

    /// A call was answered, or a value came.
    func note(_ make: (Mask) -> RecordedEvent.Content) {
        recorder.change { state, now in state.note(on: number, at: now, make) }
    }
}

/// A stream whose bytes are recorded.
struct RecordedByteLink: ByteLink {
    private let link: any ByteLink
    private let track: LinkTrack

    init(_ link: any ByteLink, _ track: LinkTrack) {
        self.link = link
        self.track = track
    }

    func read(atMost limit: Int) async throws(LinkError) -> [UInt8] {
        do {
            let bytes = try await link.read(atMost: limit)
            if bytes.isEmpty { track.end(.byDevice) } else { track.received(bytes) }
            return bytes
        } catch {
            if error.code != .cancelled { track.end(.broken(error)) }
            throw error
        }
    }

    func write(_ bytes: [UInt8]) async throws(LinkError) {
        // Recorded first: the device may answer before the write returns.
        track.sent(bytes)
        do { try await link.write(bytes) } catch {
            if error.code != .cancelled { track.end(.broken(error)) }
            throw error
        }
    }
}
