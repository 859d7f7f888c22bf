import GatewayKit
import JSON
import Vitals

/// Reads both directions of a link and reports violations of the protocol by the device's side.
///
/// It helps authors of programs: the driver itself forgives much of this. It sorts pages, skips what it cannot
/// read and drops unexpected answers.
package struct LinkAudit: Sendable {
    /// A violation of the protocol.
    package struct Violation: Sendable, Hashable {
        /// The rule that it violates.
        package var rule: LinkRule
        /// A sentence that describes the violation.
        package var text: String
    }

    /// The most violations kept per rule: more would say the same.
    package static let mostViolations = 3
    /// The most characters of a line in a violation.
    static let maximumExcerpt = 60

    /// What was found since `takeViolations`, in order.
    private(set) var violations: [Violation] = []
    /// How often each notification came.
    package private(set) var notifications: [String: Int] = [:]

    private var seen: [LinkRule: Set<String>] = [:]
    private var outgoing = LineSplitter()
    private var incoming = LineSplitter()
    private var lines = 0
    /// The calls that await an answer.
    private var calls: [Int64: LinkCallRecord] = [:]
    private var lastID: Int64 = 0
    private var isInitialized = false
    private var measurements: Set<String> = []
    private var reading = HistoryAudit()

    /// Creates an audit without violations.
    package init() {}

    /// Removes and returns the violations, so that a caller sees each once.
    package mutating func takeViolations() -> [Violation] {
        defer { violations = [] }
        return violations
    }

    /// Starts over with a new link; violations remain.
    package mutating func reset() {
        (outgoing, incoming, lines) = (LineSplitter(), LineSplitter(), 0)
        (calls, lastID, isInitialized) = ([:], 0, false)
        (measurements, reading) = ([], HistoryAudit())
    }

    /// Takes bytes that the gateway wrote.
    package mutating func sent(_ bytes: [UInt8]) {
        outgoing.append(bytes)
        while let line = try? outgoing.next() {
            guard let call = LinkCallRecord(outgoing.bytes[line]) else { continue }
            calls[call.id] = call
            lastID = call.id
        }
    }

    /// Takes bytes that the device wrote.
    package mutating func received(_ bytes: [UInt8]) {
        incoming.append(bytes)
        // If a line is too long, the driver ends the link and reports that itself.
        while let line = try? incoming.next() {
            lines += 1
            audit(line, of: incoming.bytes)
        }
    }

    mutating func add(_ rule: LinkRule, _ text: String) {
        guard seen[rule, default: []].count < Self.mostViolations, seen[rule, default: []].insert(text).inserted else {
            return
        }
        violations.append(Violation(rule: rule, text: text))
    }

    private mutating func audit(_ line: Range<Int>, of bytes: [UInt8]) {
        var reader = JSONReader(bytes, range: line)
        let envelope: Envelope
        do {
            envelope = try Envelope(from: &reader)
        } catch {
            let excerpt = String(decoding: bytes[line], as: UTF8.self).printable(atMost: Self.maximumExcerpt)
            let isMessage = bytes[line].first == UInt8(ascii: "{")
            let reason = Malformed(error).sentence(lineStart: line.lowerBound)
            return add(isMessage ? .line : .output, "Line \(lines) is no message (\(excerpt)): \(reason)")
        }
        switch envelope {
        case .call(let method?, let params, _): audit(method, params.map { JSONReader(bytes, range: $0) })
        case .call(nil, _, let id):
            let value = try? JSONValue(parsing: Array(bytes[line]))
            let name = value?["method"]?.asString?.printable(atMost: Self.maximumExcerpt) ?? ""
            add(
                id == nil ? .unknownNotifications : .unknownMethods,
                "Line \(lines) has the method \(name), which Vitals Link does not have.")
        case .answer(let id, let answer):
            let value = try? JSONValue(parsing: Array(bytes[line]))
            guard let id, let call = calls.removeValue(forKey: id) else {
                let text = value?["id"].map { "\($0.text)" } ?? "null"
                let isKnown = id.map { $0 > 0 && $0 <= lastID } ?? false
                return add(
                    .ids,
                    isKnown
                        ? "Line \(lines) answers the call \(text) a second time."
                        : "Line \(lines) is an answer with the id \(text), which no call has.")
            }
            switch answer {
            case .success(let range): audit(JSONReader(bytes, range: range), of: call)
            case .failure: takeError(value?["error"]?["code"]?.asInt64, of: call)
            }
        }
    }

    private mutating func audit(_ method: PeerMethod, _ params: JSONReader?) {
        notifications[method.rawValue, default: 0] += 1
        guard var params else { return add(.notifications, "Line \(lines), \(method.rawValue), has no params.") }
        if !isInitialized, method != .log {
            add(.silenceBeforeInitialize, "\(method.rawValue) comes before the answer to initialize.")
        }
        let start = params.index
        do throws(Malformed) {
            guard method != .sample else {
                try Sample(inParams: &params).requireValid()
                return
            }
            switch try PeerCall(method, &params) {
            case .event(.measurementSample(let id, let sample)):
                if !measurements.contains(id.text) {
                    add(.measurementNames, "A sample names the measurement \(id.text), which does not run.")
                }
                try sample.requireValid()
            case .event(.measurementEnded(let id, _, _)) where measurements.remove(id.text) == nil:
                add(.measurement, "measurement/ended names the measurement \(id.text), which does not run.")
            default: break
            }
        } catch {
            var all = JSONReader(params.bytes, range: start..<params.bytes.endIndex)
            let record = (try? JSONValue(from: &all))?["sample"]
            let isSample = method == .sample || method == .measurementSample
            let (rule, reason) =
                Self.wrongTime(in: record) ?? (
                    isSample ? .samples : .notifications, error.sentence(lineStart: start)
                )
            add(rule, "The params of \(method.rawValue) in line \(lines): \(reason)")
        }
    }

    /// What is wrong with the times of a record, `nil` if nothing is.
    static func wrongTime(in record: JSONValue?) -> (rule: LinkRule, reason: String)? {
        for key in ["start", "end"] {
            if let time = record?[key], !time.isNull, time.asInt64 == nil {
                return (.times, "\(key) is \(time.text), which is no whole number of milliseconds.")
            }
        }
        return nil
    }

    private mutating func audit(_ result: JSONReader, of call: LinkCallRecord) {
        var result = result
        switch call.method {
        case "initialize":
            isInitialized = true
            if let answer = try? JSONValue(from: &result) { checkCapabilities(answer["capabilities"] ?? .null) }
        case "history/read":
            for violation in reading.audit(result, of: call) { add(violation.rule, violation.text) }
        case "measurement/start":
            if let id = try? LinkToken(ofMeasurement: &result) { measurements.insert(id.text) }
        default: break
        }
    }

    private mutating func takeError(_ code: Int64?, of call: LinkCallRecord) {
        guard let code, LinkErrorCode(rawValue: code) == nil, !(-32_768...(-32_000)).contains(code) else { return }
        add(.errors, "\(call.method) is answered with error \(code), which means no more than that it failed.")
    }

    private mutating func checkCapabilities(_ value: JSONValue) {
        for member in value.asObject ?? [] where member.key != "max_history_days" {
            guard Metric(rawValue: member.key) != nil else {
                add(.unknownCapabilities, "The capabilities name \(member.key), which is no metric.")
                continue
            }
            for ability in member.value.asObject ?? []
            where !Abilities.named.contains(where: { $0.name == ability.key }) {
                add(.unknownCapabilities, "The capabilities of \(member.key) name \(ability.key), which is no ability.")
            }
        }
    }
}

extension LinkToken {
    /// Reads the token in the answer to `measurement/start`, as raw text for comparison.
    fileprivate init?(ofMeasurement reader: inout JSONReader) throws(JSONError) {
        var token: LinkToken?
        try reader.beginObject()
        while let key = try reader.nextKey(in: MeasurementKey.words) {
            if key == .measurement { token = try LinkToken(from: &reader) } else { try reader.skip() }
        }
        guard let token else { return nil }
        self = token
    }
}

extension JSONValue {
    /// The value as JSON text.
    var text: String {
        var writer = JSONWriter()
        write(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
