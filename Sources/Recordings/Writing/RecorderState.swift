import GatewayKit
import Vitals

/// The state of a recorder: lines that wait to be written, and the open links. It decides, and opens nothing.
struct RecorderState {
    /// An open link.
    private struct OpenLink {
        var sent: MaskedStream
        var received: MaskedStream
        var mask: Mask
        var calls = 0
    }

    /// The lines that wait, as bytes.
    private(set) var waiting: [UInt8] = []
    /// The bytes of all lines that were accepted, also of those that were written.
    private(set) var size = 0
    /// Whether the last line was added.
    private(set) var isOver = false
    private var latest = Duration.zero
    private var lost = 0
    private var opened = 0
    private var links: [Int: OpenLink] = [:]
    private let limit: Int
    private let capacity: Int

    init(_ header: RecordingLine, limit: Int, capacity: Int) {
        self.limit = limit
        self.capacity = capacity
        append(header.bytes)
    }

    /// The time of an event that is recorded at `now`. Threads may record in another order than they read the clock.
    mutating func moment(_ now: Duration) -> Duration {
        latest = max(latest, now)
        return latest
    }

    /// Takes the lines that wait.
    mutating func dequeue() -> [UInt8] {
        defer { waiting = [] }
        return waiting
    }

    /// A link is open. Returns its number; `nil` if the recording is over.
    mutating func open(_ link: RecordedLink, _ mask: Mask) -> Int? {
        guard !isOver else { return nil }
        opened += 1
        var link = link
        link.number = opened
        links[opened] = OpenLink(sent: MaskedStream(mask), received: MaskedStream(mask), mask: mask)
        add(.open(link), at: link.opened)
        return opened
    }

    mutating func sent(_ bytes: [UInt8], on link: Int, at: Duration) {
        release(\.received, on: link, at) { .received($0) }
        guard let piece = links[link]?.sent.add(bytes), !piece.bytes.isEmpty else { return }
        add(.sent(piece), on: link, at)
    }

    mutating func received(_ bytes: [UInt8], on link: Int, at: Duration) {
        release(\.sent, on: link, at) { .sent($0) }
        guard let piece = links[link]?.received.add(bytes), !piece.bytes.isEmpty else { return }
        add(.received(piece), on: link, at)
    }

    /// A call of a Bluetooth link begins. Returns its number; 0 if the link is over.
    mutating func call(on link: Int, at: Duration, _ make: (Mask) -> RecordedCall) -> Int {
        guard var open = links[link] else { return 0 }
        open.calls += 1
        links[link] = open
        add(.call(open.calls, make(open.mask)), on: link, at)
        return open.calls
    }

    /// A call of a Bluetooth link was answered, or a value came.
    mutating func note(on link: Int, at: Duration, _ make: (Mask) -> RecordedEvent.Content) {
        guard let open = links[link] else { return }
        add(make(open.mask), on: link, at)
    }

    /// A link is over. Only the first end counts.
    mutating func end(_ end: RecordedEnd, on link: Int, at: Duration) {
        guard let mask = links[link]?.mask else { return }
        let end: RecordedEnd = if case .broken(let error) = end { .broken(mask.masking(error)) } else { end }
        release(\.sent, on: link, at) { .sent($0) }
        release(\.received, on: link, at) { .received($0) }
        add(.end(end), on: link, at)
        links[link] = nil
    }

    /// Adds the last line.
    mutating func stop(at: Duration) {
        guard !isOver else { return }
        if lost > 0 { append(RecordingLine.lost(lost, at: at).bytes) }
        append(RecordingLine.stop(.done, at: at).bytes)
        isOver = true
    }

    private mutating func release(
        _ direction: WritableKeyPath<OpenLink, MaskedStream>, on link: Int, _ at: Duration,
        _ make: (RecordedBytes) -> RecordedEvent.Content
    ) {
        guard let piece = links[link]?[keyPath: direction].release(), !piece.bytes.isEmpty else { return }
        add(make(piece), on: link, at)
    }

    private mutating func add(_ content: RecordedEvent.Content, on link: Int, _ at: Duration) {
        add(.event(RecordedEvent(at: at, line: 0, content: content), link: link), at: at)
    }

    private mutating func add(_ line: RecordingLine, at: Duration) {
        guard !isOver else { return }
        let before = lost > 0 ? RecordingLine.lost(lost, at: at).bytes : []
        let bytes = before + line.bytes
        guard size + bytes.count + LinkRecorder.lastLine <= limit else {
            if lost > 0 { append(before) }
            append(RecordingLine.stop(.limit, at: at).bytes)
            isOver = true
            links = [:]
            return
        }
        guard waiting.count + bytes.count <= capacity else {
            lost += 1
            return
        }
        lost = 0
        append(bytes)
    }

    private mutating func append(_ bytes: [UInt8]) {
        waiting += bytes
        size += bytes.count
    }
}
