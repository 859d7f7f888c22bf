import GatewayKit
import HTTPTypes
import JSON
import Listening
import Vitals

/// The response to a request: a status, and a JSON object.
struct Reply: Sendable {
    var status: HTTPResponse.Status
    var headers: HTTPFields = [.contentType: "application/json"]
    var body: [UInt8]
    /// Whether the connection ends with it, since the request was not read to its end.
    var endsConnection = false
    /// Whether the request's document has been read, at least in part.
    var hasReadDocument = false
    /// What the log says of it.
    var summary: String

    /// The response without its body.
    var head: HTTPResponse {
        var head = HTTPResponse(status: status, headerFields: headers)
        head.headerFields[.contentLength] = "\(body.count)"
        if endsConnection { head.headerFields[.connection] = "close" }
        return head
    }

    /// The document is durable.
    init(_ report: DocumentReport) {
        status = .ok
        summary = "stored"
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("new", report.new)
        writer.member("corrected", report.corrected)
        writer.member("known", report.known)
        writer.member("superseded", report.superseded)
        for (key, reasons) in [("refused" as StaticString, report.refused), ("skipped", report.skipped)] {
            writer.member(key, array: reasons.sorted { $0.key < $1.key }) { writer, reason in
                writer.beginObject()
                writer.member("reason", reason.key)
                writer.member("count", reason.value)
                writer.endObject()
            }
        }
        if !report.entries.isEmpty {
            writer.member("entries", array: report.entries) { writer, entry in
                writer.beginObject()
                writer.member("path", entry.path)
                writer.member("outcome", entry.outcome.rawValue)
                if let reason = entry.reason { writer.member("reason", reason) }
                writer.endObject()
            }
            writer.member("further_entries", report.furtherEntries)
        }
        writer.endObject()
        body = writer.bytes
    }

    /// Something is wrong: `{"error": {"code": …, "message": …}}`.
    init(_ status: HTTPResponse.Status, _ code: String, _ message: String) {
        self.status = status
        summary = "\(code): \(message)"
        var writer = JSONWriter()
        writer.beginObject()
        writer.member(
            "error",
            object: { error in
                error.member("code", code)
                error.member("message", message)
            })
        writer.endObject()
        body = writer.bytes
    }
}

extension Reply {
    /// The connection ends with it.
    private var last: Reply {
        var reply = self
        reply.endsConnection = true
        return reply
    }

    /// It is the answer to a document that was read in part.
    var read: Reply {
        var reply = self
        reply.hasReadDocument = true
        return reply
    }

    private func header(_ name: HTTPField.Name, _ value: String) -> Reply {
        var reply = self
        reply.headers[name] = value
        return reply
    }

    static let notFound = Reply(
        .notFound, "not_found", "There is nothing here. Devices post to \(DocumentRequests.path)<id>."
    ).last
    static let wrongMethod = Reply(.methodNotAllowed, "method_not_allowed", "Only POST is taken here.")
        .header(.allow, "POST").last
    /// It does not say which of the two is wrong: a stranger must not discover names of devices.
    static let unauthorized = Reply(
        .unauthorized, "unauthorized",
        "There is no device of this name that may post, or its token is another one. Send Authorization: Bearer <token>."
    ).header(.wwwAuthenticate, "Bearer").last
    static func tooSoon(_ wait: Duration) -> Reply {
        let seconds = max(1, Int((Double(wait.inMilliseconds) / 1000).rounded(.up)))
        return Reply(
            .tooManyRequests, "too_many_requests", "The token was wrong before. Try again in \(seconds) s."
        ).header(.retryAfter, "\(seconds)").last
    }
    static let wrongType = Reply(
        .unsupportedMediaType, "unsupported_media_type",
        "The content must be JSON: send Content-Type: application/json."
    ).last
    static let encoded = Reply(
        .unsupportedMediaType, "unsupported_media_type", "The content must not be compressed: send no Content-Encoding."
    ).last
    static let tooLarge = Reply(
        .contentTooLarge, "content_too_large",
        "A document has at most \(ByteSize(bytes: Int64(BodyBudget.maximumBody))). Send less at a time, such as fewer days."
    ).last
    static let tooSlow = Reply(
        .requestTimeout, "request_timeout",
        "The document did not arrive within \(DocumentRequests.bodyTime.configurationText)."
    ).last
    static let busy = unavailable("Too many documents are on their way at once.").last
    static let late = unavailable(
        "The document was not stored within \(DocumentRequests.answerTime.configurationText). It may be stored later; send "
            + "it again then.")

    /// The sender's address has as many connections as it may, or there are as many strangers.
    static func crowded(_ refusal: ConnectionShares.Refusal) -> Reply { unavailable(refusal.description).last }

    static func unavailable(_ message: String) -> Reply {
        Reply(.serviceUnavailable, "unavailable", message)
            .header(.retryAfter, "\(DocumentRequests.retryAfter.components.seconds)")
    }

    /// The driver's answer to a document.
    init(_ answer: DocumentAnswer) {
        switch answer {
        case .stored(let report): self.init(report)
        case .unreadable(let reason): self.init(.unprocessableContent, "unprocessable_content", reason)
        case .interrupted(let reason): self = .unavailable(reason)
        }
    }
}
