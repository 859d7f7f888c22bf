import JSON
import Recordings

/// A recorded stream of JSON-RPC lines (Vitals Link), taken apart: what the gateway called, what was answered, and what the device said by
/// itself.
struct CallScript: Sendable {
    /// A call of the gateway.
    struct Call: Sendable {
        var method: String
        var params: JSONValue
        var answer: Answer?
        /// What the device said of the measurement that the call had begun: lines, and the times from the call to them.
        var readings: [(after: Duration, line: [UInt8])] = []
    }
    /// What the device answered to a call.
    struct Answer: Sendable {
        /// The time from the call to it.
        var after: Duration
        /// The line, with its end and the id of then.
        var line: [UInt8]
        /// The answer in it.
        var body: JSONValue
    }
    /// Bytes that the device sent by itself: a line with its end, readable or not.
    struct Saying: Sendable {
        /// The time since the link was opened.
        var at: Duration
        var bytes: [UInt8]
        /// Whether the device had answered a call before.
        var isAfterAnswer: Bool
    }

    private(set) var calls: [Call] = []
    private(set) var sayings: [Saying] = []
    /// How the link ended; `nil` if the recording ends before.
    private(set) var end: RecordedEnd?
    /// Whether the device ended the link, or the link broke.
    var endsItself: Bool {
        switch end {
        case .byDevice?, .broken?: true
        case .byGateway?, nil: false
        }
    }
    /// The time from the opening to the end.
    private(set) var length = Duration.zero

    private var positions: [JSONValue: Int] = [:]
    private var times: [Int: Duration] = [:]
    /// The calls that have begun measurements, by the ids of these.
    private var measurements: [JSONValue: Int] = [:]
    private var isAnswered = false

    /// Takes a recorded link apart; `nil` if it is no stream, or the gateway did not write calls of JSON-RPC.
    init?(_ link: RecordedLink) {
        guard link.kind == .bytes else { return nil }
        var (sent, received): ([UInt8], [UInt8]) = ([], [])
        for event in link.events {
            let at = event.at - link.opened
            length = max(length, at)
            switch event.content {
            case .sent(let bytes):
                sent += bytes.bytes
                for line in Self.lines(&sent) { guard read(call: line, at) else { return nil } }
            case .received(let bytes):
                received += bytes.bytes
                for line in Self.lines(&received) { read(line: line, at) }
            case .end(let end): self.end = end
            case .call, .answer, .value: return nil
            }
        }
        guard !calls.isEmpty else { return nil }
        if !received.isEmpty { say(received, length) }
    }

    /// The complete lines, with their ends; the rest stays.
    private static func lines(_ bytes: inout [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var start = 0
        while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(Array(bytes[start...end]))
            start = end + 1
        }
        bytes.removeFirst(start)
        return lines
    }

    /// Takes a line of the gateway. Returns whether it is JSON-RPC. Replies and notifications of the gateway need no answer.
    private mutating func read(call line: [UInt8], _ at: Duration) -> Bool {
        guard let value = try? JSONValue(parsing: line), value.asObject != nil else { return false }
        guard let method = value["method"]?.asString, let id = value["id"], !id.isNull else { return true }
        positions[id] = calls.count
        times[calls.count] = at
        calls.append(Call(method: method, params: value["params"] ?? .null))
        return true
    }

    private mutating func read(line: [UInt8], _ at: Duration) {
        guard let value = try? JSONValue(parsing: line) else { return say(line, at) }
        if value["method"] != nil, let measurement = value["params"]?["measurement"],
            let position = measurements[measurement]
        {
            return calls[position].readings.append((at - (times[position] ?? at), line))
        }
        guard value["method"] == nil, let id = value["id"], let position = positions.removeValue(forKey: id) else {
            return say(line, at)
        }
        if let measurement = value["result"]?["measurement"] { measurements[measurement] = position }
        calls[position].answer = Answer(after: at - (times[position] ?? at), line: line, body: value)
        isAnswered = true
    }

    private mutating func say(_ bytes: [UInt8], _ at: Duration) {
        sayings.append(Saying(at: at, bytes: bytes, isAfterAnswer: isAnswered))
    }
}
