import Vitals

/// A request of a visitor who may see something, with its session.
struct Visit: Sendable {
    let request: WebRequest
    let visitor: AccessRule.Visitor
    /// What the visitor may see; `nil` before it has signed in.
    let rights: PageRights?
    let session: PageSessions.Session
    /// Whether the browser does not have the session's cookie yet.
    let isNew: Bool
    let clock: PageClock
    let query: FormFields

    /// Whether Home Assistant shows the pages within its own.
    var isFramed: Bool { request.isIngress }

    /// The page's own address below the base; empty for one that is none of ours, which may be anything.
    var path: String {
        guard PagePlace(request.path) != nil || PageAction(request.path) != nil else { return "" }
        let path = String(request.path.dropFirst())
        return request.query.isEmpty ? path : "\(path)?\(Self.plain(request.query))"
    }

    /// What follows a question mark, if it is as our own links have it.
    private static func plain(_ query: String) -> String {
        let isOurs =
            query.utf8.count <= PagePlace.longestPath
            && query.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
                case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "="), UInt8(ascii: "&"): true
                default: false
                }
            }
        return isOurs ? query : ""
    }

    /// Where a form leads back to, below the base, if it is a page of ours: never anywhere else.
    static func target(_ text: String?) -> String? {
        guard let text, !text.isEmpty else { return nil }
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard PagePlace("/\(parts[0])") != nil else { return nil }
        let query = parts.count > 1 ? plain(String(parts[1])) : ""
        return query.isEmpty ? String(parts[0]) : "\(parts[0])?\(query)"
    }

    /// The name of the session's cookie. One with `__Host-` cannot be set by another site of the same name.
    static func cookieName(_ request: WebRequest) -> String {
        request.isEncrypted && request.base == "/" ? "__Host-vitals2mqtt" : "vitals2mqtt"
    }

    /// The session's cookie: for no script, and sent only with requests of the gateway's own pages.
    static func cookie(_ session: PageSessions.Session, _ request: WebRequest) -> (name: String, value: String) {
        let secure = request.isEncrypted ? "; Secure" : ""
        return (
            "Set-Cookie",
            "\(cookieName(request))=\(session.id); Path=\(request.base); HttpOnly; SameSite=Strict\(secure)"
        )
    }

    /// What removes the cookie.
    static func noCookie(_ request: WebRequest) -> (name: String, value: String) {
        let secure = request.isEncrypted ? "; Secure" : ""
        return (
            "Set-Cookie", "\(cookieName(request))=; Path=\(request.base); Max-Age=0; HttpOnly; SameSite=Strict\(secure)"
        )
    }
}
