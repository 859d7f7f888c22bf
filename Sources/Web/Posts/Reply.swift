import GatewayKit
import JSON
import Listening
import Vitals

/// The answer to a request, and what becomes of its connection.
struct Reply: Sendable {
    /// What was sent and not read, so that the connection ends with the answer.
    enum Unread: Sendable {
        /// All of it.
        case all
        /// Some of it, and the rest cannot be read any more.
        case rest
    }

    var answer: WebAnswer
    /// `nil` if nothing is left unread, so that the connection may have further requests.
    var unread: Unread?
    /// What the log says of it.
    var summary = ""

    /// The answer of a page.
    init(_ answer: WebAnswer, unread: Unread? = nil) {
        self.answer = answer
        self.unread = unread
    }

    /// The document is durable.
    init(_ report: DocumentReport) {
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
        self.init(WebAnswer(200, "application/json", writer.bytes))
    }

    /// Something is wrong: `{"error": {"code": …, "message": …}}`.
    init(_ status: Int, _ code: String, _ message: String) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member(
            "error",
            object: { error in
                error.member("code", code)
                error.member("message", message)
            })
        writer.endObject()
        self.init(WebAnswer(status, "application/json", writer.bytes))
        summary = "\(code): \(message)"
    }
}

extension Reply {
    /// The connection ends with it, as what was sent is not read.
    private var last: Reply {
        var reply = self
        reply.unread = .all
        return reply
    }

    /// It is the answer to a document that was read in part.
    var read: Reply {
        var reply = self
        reply.unread = .rest
        return reply
    }

    /// It is the answer to a document that was read to its end.
    var whole: Reply {
        var reply = self
        reply.unread = nil
        return reply
    }

    private func header(_ name: String, _ value: String) -> Reply {
        var reply = self
        reply.answer.headers.append((name, value))
        return reply
    }

    static let notFound = Reply(
        404, "not_found", "There is nothing here. Devices post to \(DocumentRequests.path)<id>."
    ).last
    static let otherVersion = Reply(
        404, "not_found",
        "Of Nightscout's API only version 1 is taken. Choose it in the app; AAPS, which needs version 3, cannot post here."
    ).last
    static let plainSecret = Reply(
        403, "forbidden",
        "Without TLS everybody on the way could send with the app's secret. Use https:// in the app, with tls in web: of the gateway's "
            + "configuration or behind a proxy of trusted_proxies that sends X-Forwarded-Proto: https; or allow it by plain_api_secret: true in web:."
    ).last
    static let wrongMethod = Reply(405, "method_not_allowed", "Only POST is taken here.")
        .header("Allow", "POST").last
    /// It does not say which of the two is wrong: a stranger must not discover names of devices.
    static let unauthorized = Reply(
        401, "unauthorized",
        "There is no device of this name that may post, or its token is another one. Send Authorization: Bearer <token>; apps of "
            + "Nightscout send the token as their API secret."
    ).header("WWW-Authenticate", "Bearer").last
    static func tooSoon(_ wait: Duration) -> Reply {
        let seconds = max(1, Int((Double(wait.inMilliseconds) / 1000).rounded(.up)))
        return Reply(
            429, "too_many_requests", "The token was wrong before. Try again in \(seconds) s."
        ).header("Retry-After", "\(seconds)").last
    }
    static let wrongType = Reply(
        415, "unsupported_media_type",
        "The content must be JSON: send Content-Type: application/json."
    ).last
    static let encoded = Reply(
        415, "unsupported_media_type", "The content must not be compressed: send no Content-Encoding."
    ).last
    static let damaged = Reply(
        400, "bad_request", "The content is no whole gzip: send it again, or without Content-Encoding.")
    static let tooLarge = Reply(
        413, "content_too_large",
        "A document has at most \(ByteSize(bytes: Int64(BodyBudget.maximumBody))). Send less at a time, such as fewer days."
    ).last
    static let tooSlow = Reply(
        408, "request_timeout",
        "The document did not arrive within \(DocumentRequests.bodyTime.configurationText)."
    ).last
    static let busy = unavailable("Too many documents are on their way at once.").last
    static let late = unavailable(
        "The document was not stored within \(DocumentRequests.answerTime.configurationText). It may be stored later; send "
            + "it again then.")

    /// The listener ends, or moves elsewhere. What a driver has is stored nevertheless.
    static let ending = unavailable("The gateway ends, or listens anew; send it again later.").read

    /// The sender's address has as many connections as it may, or there are as many strangers.
    static func crowded(_ refusal: ConnectionShares.Refusal) -> Reply { unavailable(refusal.description).last }

    static func unavailable(_ message: String) -> Reply {
        Reply(503, "unavailable", message)
            .header("Retry-After", "\(DocumentRequests.retryAfter.components.seconds)")
    }

    /// The driver's answer to a document.
    init(_ answer: DocumentAnswer) {
        switch answer {
        case .stored(let report): self.init(report)
        case .unreadable(let reason): self.init(422, "unprocessable_content", reason)
        case .interrupted(let reason): self = .unavailable(reason)
        }
    }
}
