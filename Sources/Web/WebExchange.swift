package import HTTPTypes

/// A request, as the listener hands it to a page.
package struct WebRequest: Sendable, Hashable {
    /// `GET` and its like.
    package var method: String
    /// The path below `base`, without what follows a question mark. It begins with a slash, and is as it was sent: still encoded.
    package var path: String
    /// What follows the question mark; empty without one.
    package var query: String
    /// The headers, of which each has at most `WebConnections.maximumHead` bytes.
    package var headers: HTTPFields
    /// Who asks: the peer's address, or that which a trusted proxy names.
    package var address: String
    /// Whether it came over TLS, to the listener or to a trusted proxy.
    package var isEncrypted: Bool
    /// Where the listener's root is for the browser: `/`, or what a trusted proxy puts before. It begins and ends with a slash.
    package var base: String
    /// The name and the port by which it asks, as in `Host`; empty if it does not say them.
    package var authority: String
    /// Whether it comes from Home Assistant's Supervisor, by its ingress. The listener says so only where the configuration has
    /// `ingress: true` and the peer is `AccessRule.supervisor`.
    package var isIngress: Bool
    /// What was sent with it, of at most `WebPage.maximumBody` bytes.
    package var body: [UInt8]

    package init(
        method: String = "GET", path: String, query: String = "", headers: HTTPFields = [:], address: String = "",
        isEncrypted: Bool = false, base: String = "/", authority: String = "", isIngress: Bool = false,
        body: [UInt8] = []
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.address = address
        self.isEncrypted = isEncrypted
        self.base = base
        self.authority = authority
        self.isIngress = isIngress
        self.body = body
    }
}

/// The answer to a request.
package struct WebAnswer: Sendable {
    /// Writes the body of an answer whose length is not known before, such as an event stream.
    ///
    /// It may write as long as the client reads: a client that does not take a part within `WebConnections.answerTime` is closed. It is
    /// cancelled when the client leaves or the listener ends.
    package typealias Stream = @Sendable (_ write: @escaping Writer) async throws -> Void
    /// Sends a part, and returns when there is room for the next one.
    package typealias Writer = @Sendable (_ part: [UInt8]) async throws -> Void

    /// The status of HTTP, 200 to 599.
    package var status: Int
    package var contentType: String
    /// The whole body, if there is no `stream`.
    package var body: [UInt8]
    /// Writes the body.
    package var stream: Stream?
    /// Further headers, such as `Allow`; a name may be there more than once.
    package var headers: [(name: String, value: String)] = []
    /// Called when the answer has been written, or cannot be.
    package var onEnd: @Sendable () -> Void = {}

    package init(_ status: Int, _ contentType: String, _ body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    /// An answer that goes on as long as `stream` writes. `WebConnections.maximumStreams` do at a time; a further client gets 503 instead.
    package init(_ contentType: String, stream: @escaping Stream) {
        self.init(200, contentType, [])
        self.stream = stream
    }

    /// A sentence for a person.
    package init(_ status: Int, text: String) {
        self.init(status, "text/plain; charset=utf-8", Array("\(text)\n".utf8))
    }

    /// There is no room now; the client may try again.
    static func busy(_ text: String) -> WebAnswer {
        var answer = WebAnswer(503, text: text)
        answer.headers = [("Retry-After", "\(WebConnections.headTime.components.seconds)")]
        return answer
    }
}

/// A page or an endpoint of the listener.
package protocol WebPage: Sendable {
    /// Its path, such as `/metrics`; with a slash at the end also all below it, where no other page is.
    var path: String { get }
    /// The most bytes of a request's body; a longer one is refused with 413. 0 by default: what is sent is not read.
    var maximumBody: Int { get }
    /// Whether what is posted to a path of it leads somewhere; where it does not, the answer is 404 before anything is read.
    func hasPost(at path: String) -> Bool
    /// Whether an answer to `GET` or `HEAD` keeps a processor busy, such as a page that is drawn from the store; `false` by default. One of
    /// these is made at a time, so that delivery does not queue for a thread behind as many as there are connections.
    var isCostly: Bool { get }
    /// Answers a request for this path. It runs on the threads that all tasks share, and must not block.
    func answer(to request: WebRequest) async -> WebAnswer
}

extension WebPage {
    package var maximumBody: Int { 0 }
    package func hasPost(at path: String) -> Bool { true }
    package var isCostly: Bool { false }
}
