import GatewayKit
import Recordings

/// How far a recorded link is played. It decides, and waits for nothing.
///
/// The gateway's events may happen early, and in another order than recorded where they are calls of different characteristics. An event
/// of the device waits until everything is done that the gateway had done before it.
struct PlaybackState {
    let link: RecordedLink
    let path: String
    private let comparison: Comparison
    private var stream: PlayedStream
    private var isDone: [Bool]
    /// Everything of the gateway before this event is done.
    private(set) var reached = 0
    /// The events of the device in their order: bytes or values, and the end.
    private var toSend: ArraySlice<Int>
    /// Bytes of the last piece that did not fit into a read.
    private var left: [UInt8] = []
    private(set) var failure: LinkError?

    init(_ link: RecordedLink, path: String, comparison: Comparison) {
        self.link = link
        self.path = path
        self.comparison = comparison
        stream = PlayedStream(link.events, comparison)
        isDone = link.events.map { !$0.isOfGateway }
        let ofDevice = link.events.indices.filter { index in
            switch link.events[index].content {
            case .received, .value, .end: true
            case .sent, .call, .answer: false
            }
        }
        toSend = ofDevice[...]
        advance()
    }

    /// The next event that the device sends; `nil` after the last one.
    var next: Int? { toSend.first }

    /// Whether everything is done that the gateway had done before this event.
    func isReached(_ event: Int) -> Bool { event <= reached }

    /// What the gateway has still to do before this event, for a person.
    func missing(before event: Int) -> String {
        guard reached < event, link.events.indices.contains(reached) else { return "nothing" }
        return "line \(link.events[reached].line): \(describe(link.events[reached].content))"
    }

    /// Takes the event that the device sends next.
    mutating func dropFirstStep() { toSend = toSend.dropFirst() }

    /// Takes at most `limit` of the bytes that a piece has left.
    mutating func takeLeft(_ limit: Int) -> [UInt8] {
        defer { left.removeFirst(min(limit, left.count)) }
        return Array(left.prefix(limit))
    }

    /// Adds the bytes of a piece.
    mutating func enqueue(_ bytes: [UInt8]) { left += bytes }

    /// The gateway writes to the stream.
    mutating func write(_ bytes: [UInt8]) throws(LinkError) {
        if let failure { throw failure }
        do throws(PlayedStream.Mismatch) {
            for event in try stream.write(bytes) { isDone[event] = true }
            advance()
        } catch {
            throw fail(
                Difference(
                    path: path, line: error.event.map { link.events[$0].line } ?? 0,
                    position: "byte \(error.position) of what it writes", expected: Difference.show(error.expected),
                    actual: Difference.show(error.actual)))
        }
    }

    /// The answer to a call.
    enum Answer: Sendable, Hashable {
        /// The event of this index, when it is due.
        case recorded(Int)
        /// The event of this index at once: the answer to a call of its kind that was made before.
        case again(Int)
        /// The device does not know the call.
        case refused
        /// The recording ends before the answer.
        case none
    }

    /// The gateway begins a call.
    mutating func call(_ call: PlayedCall) throws(LinkError) -> Answer {
        if let failure { throw failure }
        if isTolerant { return tolerantCall(call) }
        for index in reached..<link.events.count where !isDone[index] {
            let event = link.events[index]
            guard case .call(let number, let recorded) = event.content, call.isOfSameKind(as: recorded) else {
                continue
            }
            guard call.matches(recorded, comparison) else {
                throw fail(
                    Difference(
                        path: path, line: event.line, position: "call \(number)", expected: recorded.text,
                        actual: call.text))
            }
            markDone(index)
            return answer(to: number, from: index).map { .recorded($0) } ?? .none
        }
        throw fail(
            Difference(
                path: path, line: 0, position: "after its last call of this kind", expected: "nothing",
                actual: call.text))
    }

    /// Finds the first call that is alike, or of the same length, or was made already.
    private mutating func tolerantCall(_ call: PlayedCall) -> Answer {
        let alike = link.events.indices.filter { index in
            guard case .call(_, let recorded) = link.events[index].content else { return false }
            return call.isOfSameKind(as: recorded)
        }
        let left = alike.filter { !isDone[$0] }
        func first(_ comparison: Comparison) -> Int? {
            left.first { index in
                guard case .call(_, let recorded) = link.events[index].content else { return false }
                return call.matches(recorded, comparison)
            }
        }
        let found = first(.tolerant) ?? first(.length)
        guard let index = found ?? alike.last(where: { isDone[$0] }),
            case .call(let number, _) = link.events[index].content
        else { return .refused }
        if found != nil { markDone(index) }
        guard let answer = answer(to: number, from: index) else { return .none }
        return found == nil ? .again(answer) : .recorded(answer)
    }

    private func answer(to number: Int, from index: Int) -> Int? {
        link.events[index...].firstIndex { event in
            if case .answer(number, _) = event.content { true } else { false }
        }
    }

    private mutating func markDone(_ index: Int) {
        isDone[index] = true
        advance()
    }

    /// Goes on without what the gateway has not done.
    mutating func skip() {
        guard isDone.indices.contains(reached) else { return }
        markDone(reached)
    }

    /// Whether the gateway may do without something that it had done: only calls of Bluetooth have their own order.
    var isTolerant: Bool {
        if case .gatt = link.kind { comparison == .tolerant } else { false }
    }

    /// Ends the link with an error. Only the first one counts.
    mutating func fail(_ error: LinkError) {
        if failure == nil { failure = error }
    }

    private mutating func fail(_ difference: Difference) -> LinkError {
        let error = LinkError(.broken, difference.description)
        fail(error)
        return error
    }

    private mutating func advance() {
        while reached < isDone.count, isDone[reached] { reached += 1 }
    }

    private func describe(_ content: RecordedEvent.Content) -> String {
        switch content {
        case .sent(let bytes): "a write of \(Difference.show(bytes.bytes))"
        case .call(_, let call): call.text
        case .received, .answer, .value, .end: "something of the device"
        }
    }
}
