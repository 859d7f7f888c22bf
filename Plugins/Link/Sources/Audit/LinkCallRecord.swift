import JSON

/// A call that the gateway made.
struct LinkCallRecord: Sendable {
    var id: Int64
    var method: String
    var params: JSONValue

    /// Reads a line of the gateway; `nil` if it is an answer.
    init?(_ line: ArraySlice<UInt8>) {
        guard let value = try? JSONValue(parsing: Array(line)), let id = value["id"]?.asInt64,
            let method = value["method"]?.asString
        else { return nil }
        (self.id, self.method, params) = (id, method, value["params"] ?? .null)
    }
}
