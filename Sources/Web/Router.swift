/// Finds the page of a request.
package struct Router: Sendable {
    private let pages: [String: any WebPage]

    /// A router for these pages; of two with one path the first counts.
    package init(_ pages: [any WebPage]) { self.pages = Dictionary(pages.map { ($0.path, $0) }) { first, _ in first } }

    /// The pages about a gateway, its API, and others.
    package init(
        of view: any GatewayView, api: API? = nil, pages others: [any WebPage] = [], _ configuration: WebConfiguration
    ) {
        let pages: [any WebPage] = [
            MetricsPage(of: view, withVitals: configuration.hasVitalMetrics), HealthPage(of: view, .live),
            HealthPage(of: view, .ready),
        ]
        self.init(pages + (api.map { [$0.page(configuration.apiAccess)] } ?? []) + others)
    }

    /// The answer to a request; 404 where nothing is, with the paths that are there.
    package func answer(to request: WebRequest) async -> WebAnswer {
        if let page = page(at: request.path) { return await page.answer(to: request) }
        return nothing
    }

    /// The answer where nothing is.
    var nothing: WebAnswer {
        WebAnswer(404, text: "There is nothing here. Known: \(pages.keys.sorted().joined(separator: ", ")).")
    }

    /// The page that answers for a path.
    func page(at path: String) -> (any WebPage)? {
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
