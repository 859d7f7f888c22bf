import JSON

/// Why a request to the API has no result.
struct APIError: Error, Sendable, Hashable {
    /// The status of HTTP.
    var status: Int
    /// The code in the answer.
    var code: String
    /// What to do, for a person.
    var message: String
    var headers: [String: String] = [:]
    /// The answer to a command, as MQTT has it; JSON.
    var answer: [UInt8]?

    init(_ status: Int, _ code: String, _ message: String, headers: [String: String] = [:]) {
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers
    }

    static func invalid(_ message: String) -> APIError { APIError(400, "invalid", message) }
    static func notFound(_ message: String) -> APIError { APIError(404, "not_found", message) }
    static func forbidden(_ message: String) -> APIError { APIError(403, "forbidden", message) }

    static let unauthorized = APIError(
        401, "unauthorized",
        "A token is needed: Authorization: Bearer TOKEN. `tokens` of `web:` lists those that are taken.",
        headers: ["WWW-Authenticate": "Bearer"])

    /// The same, whether the token is right or not: too many wrong ones came from there.
    static func tooSoon(_ wait: Duration) -> APIError {
        var error = APIError(
            401, "unauthorized", "Too many wrong tokens came from this address. Wait, and send the right one.",
            headers: unauthorized.headers)
        error.headers["Retry-After"] = "\(max(1, wait.components.seconds + 1))"
        return error
    }

    static func wrongMethod(_ allowed: String) -> APIError {
        APIError(405, "method", "Only \(allowed) is taken here.", headers: ["Allow": allowed])
    }

    static let notAcceptable = APIError(
        406, "not_acceptable",
        "There is \(APIFormat.allCases.map(\.mediaType).joined(separator: ", ")); lists have all of them.")

    static let wrongType = APIError(
        415, "type", "A command is JSON: send Content-Type: application/json, and {} where it has no arguments.")

    static func store(_ reason: String) -> APIError { APIError(503, "store", "The store cannot be read: \(reason)") }

    /// `{"error": {"code": …, "message": …}}`, as posts of phones get it; of a command also its `answer`.
    var webAnswer: WebAnswer {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("error") { writer in
            writer.member("code", code)
            writer.member("message", message)
        }
        if let answer {
            writer.key("answer")
            writer.raw(bytes: answer)
        }
        writer.endObject()
        return .json(status, writer, headers: headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }
}

extension WebAnswer {
    /// An answer in JSON, which nobody keeps.
    static func json(_ status: Int, _ writer: JSONWriter, headers: [(String, String)] = []) -> WebAnswer {
        var answer = WebAnswer(status, APIFormat.json.mediaType, writer.bytes + [0x0A])
        answer.headers = [(name: "Cache-Control", value: "no-store")] + headers.map { (name: $0.0, value: $0.1) }
        return answer
    }
}
