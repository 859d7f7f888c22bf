import HTTPTypes

/// What every page answers with, so that a browser runs nothing but the gateway's own scripts, and shows the page nowhere else.
enum PageHeaders {
    /// The headers of a page.
    /// - Parameter isFramed: whether Home Assistant shows it within its own page.
    static func all(isFramed: Bool) -> [(name: String, value: String)] {
        let ancestors = isFramed ? "'self'" : "'none'"
        let policy = [
            "default-src 'none'", "style-src 'self'", "script-src 'self'", "img-src 'self'", "connect-src 'self'",
            "form-action 'self'", "base-uri 'self'", "frame-ancestors \(ancestors)",
        ]
        return [
            ("Content-Security-Policy", policy.joined(separator: "; ")),
            ("X-Frame-Options", isFramed ? "SAMEORIGIN" : "DENY"),
            // A browser then still says from which origin a form comes.
            ("Referrer-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"), ("Cache-Control", "no-store"),
        ]
    }
}

extension WebAnswer {
    /// A page.
    static func page(_ html: String, status: Int = 200, isFramed: Bool) -> WebAnswer {
        var answer = WebAnswer(status, "text/html; charset=utf-8", Array(html.utf8))
        answer.headers = PageHeaders.all(isFramed: isFramed)
        return answer
    }

    /// Leads a browser that has posted a form to another page. `target` begins with a slash.
    static func redirect(to target: String, isFramed: Bool) -> WebAnswer {
        var answer = WebAnswer(303, "text/plain; charset=utf-8", [])
        answer.headers = PageHeaders.all(isFramed: isFramed) + [(name: "Location", value: target)]
        return answer
    }
}

extension WebRequest {
    /// The value of a header; `nil` without it.
    func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }

    /// The value of a cookie; `nil` without it, and if it is there twice: another site may have set one of them.
    func cookie(_ name: String) -> String? {
        let found = (header("Cookie") ?? "").split(separator: ";").map { $0.drop { $0 == " " } }
            .filter { $0.hasPrefix("\(name)=") }
        return found.count == 1 ? String(found[0].dropFirst(name.count + 1)) : nil
    }

    /// Whether a browser says that another site's page loads this, such as an image, and nobody has gone here.
    var isLoadedElsewhere: Bool {
        let isForeign = ["cross-site", "same-site"].contains(header("Sec-Fetch-Site") ?? "")
        return isForeign && header("Sec-Fetch-Mode") != "navigate"
    }

    /// Whether a browser says that a page of the gateway itself sends this. One that says nothing may be right.
    var isFromOwnPage: Bool {
        if let site = header("Sec-Fetch-Site"), site != "same-origin" { return false }
        guard let origin = header("Origin") else { return true }
        guard let start = origin.firstRange(of: "://")?.upperBound else { return false }
        // Home Assistant and other proxies may ask by another name.
        return base != "/" || authority.isEmpty || origin[start...] == authority
    }
}
