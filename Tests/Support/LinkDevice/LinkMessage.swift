import JSON

/// One line from the gateway.
enum LinkMessage {
    case call(String, JSONValue, id: JSONValue?)
    /// An answer to one of our requests, with the reason if it was refused.
    case answer(Int?, refusal: LinkFailure?)
    case unusable(LinkFailure)

    init(_ line: [UInt8]) {
        guard let message = try? JSONValue(parsing: line) else {
            self = .unusable(.parseError)
            return
        }
        if let method = message["method"]?.asString {
            self = .call(method, message["params"] ?? .object([]), id: message["id"])
        } else if let error = message["error"], !error.isNull {
            self = .answer(
                message["id"]?.asInt,
                refusal: LinkFailure(error["code"]?.asInt ?? 0, error["message"]?.asString ?? ""))
        } else if message["result"] != nil {
            self = .answer(message["id"]?.asInt, refusal: nil)
        } else {
            self = .unusable(.invalidRequest)
        }
    }
}
