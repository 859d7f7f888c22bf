import JSON

/// The device's answers to calls. Calls are rare, except answers to samples, which are read without building a tree.
extension FeedConnection {
    private static let methodNotFound = -32601
    /// The most records that fit into a line of 256 KiB.
    private static let maximumPage = 2000

    /// Takes a line of the gateway; `false` if it is unreadable, which ends the connection.
    mutating func handle(_ line: [UInt8]) -> Bool {
        guard let text = try? JSONValue(parsing: line) else { return false }
        guard let method = text["method"]?.asString else {
            takeAnswer(text)
            return true
        }
        let id = text["id"] ?? .null
        let params = text["params"] ?? .null
        switch method {
        case "initialize":
            answer(id, description)
            begin()
        case "history/read": answerPage(id, params)
        case "history/acknowledge":
            tally.update { $0.lastAcknowledge = Instant.steady }
            answer(id, [:])
        case "time/set", "ping": answer(id, [:])
        case "shutdown":
            answer(id, [:])
            isEnding = true
        default:
            respond(id) { writer in
                writer.member("error", ["code": .number(Double(Self.methodNotFound)), "message": "no such method"])
            }
        }
        return true
    }

    private mutating func takeAnswer(_ text: JSONValue) {
        guard let number = text["id"]?.asInt, let key = stock.answered(number) else { return }
        let isRefused = text["error"] != nil
        tally.update {
            if isRefused { $0.refused += 1 } else { $0.acknowledged.append(key) }
        }
    }

    private var description: JSONValue {
        [
            "protocol": 1,
            "device": ["manufacturer": "bench", "model": "feeder", "serial": .string("\(index)"), "firmware": "1"],
            "capabilities": ["heart_rate": ["history": .bool(plan.historyCount > 0)]],
            "clock": ["now": .number(Double(Instant.wall / 1000)), "utc_offset_min": 0],
        ]
    }

    private mutating func answer(_ id: JSONValue, _ result: JSONValue) {
        respond(id) { $0.member("result", result) }
    }

    private mutating func respond(_ id: JSONValue, _ body: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("jsonrpc", "2.0")
        writer.member("id", id)
        body(&writer)
        writer.endObject()
        writer.newline()
        output += writer.bytes
    }

    private mutating func answerPage(_ id: JSONValue, _ params: JSONValue) {
        let now = Instant.steady
        tally.update { if $0.firstRead == 0 { $0.firstRead = now } }
        let count = Int64(plan.historyCount)
        func firstKey(atOrAfter time: Int64) -> Int64 {
            min(count, max(0, (time - plan.base + plan.step - 1) / plan.step))
        }
        let from = firstKey(atOrAfter: params["from"]?.asInt64 ?? 0)
        let to = firstKey(atOrAfter: params["to"]?.asInt64 ?? .max / 2)
        let begin = max(from, params["page"]?.asString.flatMap { Int64($0) } ?? from)
        let limit = Int64(min(Self.maximumPage, params["limit"]?.asInt ?? Self.maximumPage))
        let end = max(begin, min(to, begin + limit))
        var head = JSONWriter()
        id.write(to: &head)
        output += Array(#"{"jsonrpc":"2.0","id":"#.utf8) + head.bytes + Array(#","result":{"samples":["#.utf8)
        SampleStock.renderHistory(Int(begin)..<Int(end), of: plan, to: &output)
        if end > begin { output.removeLast() }
        output += Array(#"],"next":"#.utf8) + Array((end < to ? "\"\(end)\"" : "null").utf8) + Array("}}\n".utf8)
    }
}
