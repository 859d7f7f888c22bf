import GatewayKit
import JSON
import Recordings

/// A device that is played by its recorded calls: each call of the gateway gets the answer that its like got. It decides, and waits for
/// nothing. All times are since the link was opened.
struct ConversationState {
    /// How long nothing must happen before the link ends, if the gateway does not repeat all recorded calls, or had left the link.
    static let quiet: Duration = .seconds(10)
    /// The longest line of the gateway, in bytes. Vitals Link has at most 262,144.
    static let longestLine = 1 << 20
    /// How many bytes are passed on at once, unless a line is longer.
    static let pieceLength = 65_536

    /// What the device does next.
    enum Step: Sendable, Hashable {
        /// It sends this now.
        case send([UInt8])
        /// Nothing before this time, or before the gateway writes.
        case wait(until: Duration)
        /// The link ends; `nil` if the recording is over before the recorded end.
        case end(RecordedEnd?)
    }

    /// A call that the recording does not have.
    struct UnknownCall: Hashable, Sendable {
        var method: String
        /// The parameters in which it differs from the call of this method that is most like it; empty if there is none.
        var differences: [String]
    }

    private struct Scheduled {
        var due: Duration
        var bytes: [UInt8]
    }

    private let script: CallScript
    private let speed: Speed
    private var isUsed: [Bool]
    /// Answers that are under way, and readings of measurements, in the order of their times.
    private var answers: [Scheduled] = []
    private var said = 0
    private var hasAnswered = false
    private var latest = Duration.zero
    private var pending: [UInt8] = []
    /// The calls that the recording does not have, each once.
    private(set) var unknownCalls: Set<UnknownCall> = []

    init(_ script: CallScript, speed: Speed) {
        self.script = script
        self.speed = speed
        isUsed = script.calls.map { _ in false }
    }

    /// The gateway writes. Replies to the device's own calls need nothing.
    /// - Throws: `broken` if a line is too long.
    mutating func write(_ bytes: [UInt8], at now: Duration) throws(LinkError) {
        latest = now
        pending += bytes
        var start = 0
        while let end = pending[start...].firstIndex(of: UInt8(ascii: "\n")) {
            receive(Array(pending[start..<end]), at: now)
            start = end + 1
        }
        pending.removeFirst(start)
        guard pending.count <= Self.longestLine else {
            throw LinkError(.broken, "The gateway wrote a line of more than \(Self.longestLine) bytes.")
        }
    }

    /// What the device does now.
    mutating func next(at now: Duration) -> Step {
        var sent: [UInt8] = []
        while let (due, isAnswer) = nextDue, due <= now, sent.count < Self.pieceLength {
            if isAnswer {
                sent += answers.removeFirst().bytes
                hasAnswered = true
            } else {
                sent += script.sayings[said].bytes
                said += 1
            }
        }
        guard sent.isEmpty else {
            latest = now
            return .send(sent)
        }
        if let (due, _) = nextDue { return .wait(until: due) }
        let isComplete = said == script.sayings.count && zip(script.calls, isUsed).allSatisfy { $0.answer == nil || $1 }
        // A device that the gateway had left would have stayed: the gateway may still be at work with the last answer.
        let endsAtOnce = isComplete && script.endsItself
        let end = max(speed.scaled(script.length), endsAtOnce ? .zero : latest + Self.quiet)
        return end <= now ? .end(script.end) : .wait(until: end)
    }

    /// When the device says the next thing, and whether it is an answer.
    private var nextDue: (due: Duration, isAnswer: Bool)? {
        let answer = answers.first?.due
        var saying: Duration?
        if said < script.sayings.count {
            let next = script.sayings[said]
            if hasAnswered || !next.isAfterAnswer { saying = speed.scaled(next.at) }
        }
        switch (answer, saying) {
        case (let answer?, let saying?): return answer <= saying ? (answer, true) : (saying, false)
        case (let answer?, nil): return (answer, true)
        case (nil, let saying?): return (saying, false)
        case (nil, nil): return nil
        }
    }

    private mutating func receive(_ line: [UInt8], at now: Duration) {
        guard let value = try? JSONValue(parsing: line), let method = value["method"]?.asString, let id = value["id"]
        else { return }
        let params = value["params"] ?? .null
        let alike = script.calls.indices.filter { index in
            script.calls[index].method == method && CallLikeness.isLike(script.calls[index].params, params)
        }
        let unused = alike.first { !isUsed[$0] }
        if let unused { isUsed[unused] = true }
        // A call that was answered already gets the newest answer again.
        guard let index = unused ?? alike.last else {
            let call = UnknownCall(method: method, differences: differences(method, params))
            unknownCalls.insert(call)
            return schedule(Self.answer(to: call, id), at: now)
        }
        // The device had not answered this one.
        guard let answer = script.calls[index].answer else { return }
        schedule(Self.answer(answer, to: id), at: now + speed.scaled(answer.after))
        for reading in script.calls[index].readings { schedule(reading.line, at: now + speed.scaled(reading.after)) }
    }

    /// The names of the parameters in which a call differs from the recorded one of its method that is most like it.
    private func differences(_ method: String, _ params: JSONValue) -> [String] {
        script.calls.filter { $0.method == method }.map { CallLikeness.differences($0.params, params) }
            .min { $0.count < $1.count } ?? []
    }

    private mutating func schedule(_ bytes: [UInt8], at due: Duration) {
        let place = answers.firstIndex { $0.due > due } ?? answers.endIndex
        answers.insert(Scheduled(due: due, bytes: bytes), at: place)
    }

    /// A recorded answer with the id of now: byte for byte if that is the same.
    private static func answer(_ answer: CallScript.Answer, to id: JSONValue) -> [UInt8] {
        guard answer.body["id"] != id else { return answer.line }
        let members = answer.body.asObject ?? []
        return line(.object(members.map { $0.key == "id" ? JSONValue.Member("id", id) : $0 }))
    }

    /// Calls that change nothing of what is played are done; all others get error 1 of Vitals Link, unsupported.
    private static func answer(to call: UnknownCall, _ id: JSONValue) -> [UInt8] {
        guard !["history/acknowledge", "ping", "shutdown", "time/set"].contains(call.method) else {
            return line(["jsonrpc": "2.0", "id": id, "result": [:]])
        }
        let names = call.differences.joined(separator: ", ")
        let message = "The recording has " + (names.isEmpty ? "no such call." : "this call with another \(names).")
        return line(["jsonrpc": "2.0", "id": id, "error": ["code": 1, "message": .string(message)]])
    }

    private static func line(_ value: JSONValue) -> [UInt8] { value.bytes + [UInt8(ascii: "\n")] }
}

/// Whether two calls ask for the same, at different times.
enum CallLikeness {
    /// Members of the calls of Vitals Link that depend on the moment, or on the gateway (`Plugins/Link/Protocol.md`).
    private static let ignored: Set<String> = [
        "from", "from_day", "gateway", "limit", "now", "options", "through", "to", "to_day", "utc_offset_min",
    ]
    /// The depth to which values are compared; deeper ones count as different.
    private static let deepest = 16

    /// The names of the members, of those that count, in which the parameters of two calls differ.
    static func differences(_ one: JSONValue, _ other: JSONValue) -> [String] {
        let names = Set(((one.asObject ?? []) + (other.asObject ?? [])).map(\.key)).subtracting(ignored)
        return names.filter { name in
            guard let value = one[name], let second = other[name] else { return true }
            return !isLike(value, second)
        }.sorted()
    }

    /// Whether two values are the same but for those members.
    static func isLike(_ one: JSONValue, _ other: JSONValue, depth: Int = 0) -> Bool {
        guard depth < deepest else { return false }
        switch (one, other) {
        case (.object(let ones), .object(let others)):
            let ones = ones.filter { !ignored.contains($0.key) }
            let others = others.filter { !ignored.contains($0.key) }
            return ones.count == others.count
                && ones.allSatisfy { member in
                    others.contains { $0.key == member.key && isLike($0.value, member.value, depth: depth + 1) }
                }
        case (.array(let ones), .array(let others)):
            return ones.count == others.count && zip(ones, others).allSatisfy { isLike($0, $1, depth: depth + 1) }
        default: return one == other
        }
    }
}
