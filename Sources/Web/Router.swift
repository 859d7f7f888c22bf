/// What a page needs to know of a request.
package struct WebRequest: Sendable, Hashable {
    /// `GET` and its like.
    package var method: String
    /// The path, without what follows a question mark.
    package var path: String
    /// The peer's address.
    package var address: String

    package init(method: String = "GET", path: String, address: String = "") {
        self.method = method
        self.path = path
        self.address = address
    }
}

/// The answer to a request.
package struct WebAnswer: Sendable {
    /// The status of HTTP, 200 to 599.
    package var status: Int
    package var contentType: String
    package var body: [UInt8]
    /// Further headers, such as `Allow`.
    package var headers: [(name: String, value: String)] = []
    /// Called when the answer has been written, or cannot be.
    package var onEnd: @Sendable () -> Void = {}

    package init(_ status: Int, _ contentType: String, _ body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    /// A sentence for a person.
    init(_ status: Int, text: String) { self.init(status, "text/plain; charset=utf-8", Array("\(text)\n".utf8)) }

    /// There is no room now; the client may try again.
    static func busy(_ text: String) -> WebAnswer {
        var answer = WebAnswer(503, text: text)
        answer.headers = [("Retry-After", "\(WebConnections.headTime.components.seconds)")]
        return answer
    }
}

/// A page or an endpoint of the listener. It gets what it shows from a `GatewayView`.
package protocol WebPage: Sendable {
    /// Its path, such as `/metrics`; with a slash at the end also all below it, where no other page is.
    var path: String { get }
    /// Answers a request for this path. It runs on the threads that all tasks share, and must not block.
    func answer(to request: WebRequest) async -> WebAnswer
}

/// Finds the page of a request.
package struct Router: Sendable {
    private let pages: [String: any WebPage]

    /// A router for these pages; of two with one path the first counts.
    package init(_ pages: [any WebPage]) { self.pages = Dictionary(pages.map { ($0.path, $0) }) { first, _ in first } }

    /// The pages about a gateway.
    package init(of view: any GatewayView, _ configuration: WebConfiguration) {
        self.init([
            MetricsPage(of: view, withVitals: configuration.hasVitalMetrics), HealthPage(of: view, .live),
            HealthPage(of: view, .ready),
        ])
    }

    /// The answer to a request; 404 where nothing is, with the paths that are there.
    package func answer(to request: WebRequest) async -> WebAnswer {
        if let page = page(at: request.path) { return await page.answer(to: request) }
        return WebAnswer(404, text: "There is nothing here. Known: \(pages.keys.sorted().joined(separator: ", ")).")
    }

    private func page(at path: String) -> (any WebPage)? {
        if let page = pages[path] { return page }
        var rest = path[...]
        while let slash = rest.lastIndex(of: "/") {
            if let page = pages[String(rest[...slash])] { return page }
            rest = rest[..<slash]
        }
        return nil
    }
}

extension WebRequest {
    /// Why a page that is only read does not answer this request; `nil` if it does.
    var refusal: WebAnswer? {
        guard method != "GET", method != "HEAD" else { return nil }
        var answer = WebAnswer(405, text: "Only GET and HEAD are taken here.")
        answer.headers = [("Allow", "GET, HEAD")]
        return answer
    }
}
