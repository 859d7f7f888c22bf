/// The style sheet, the scripts and the icon. They are part of the program.
struct PageAssets: Sendable {
    /// A file.
    private struct Asset: Sendable {
        var contentType: String
        var bytes: [UInt8]
    }

    /// The files of the program.
    static let current = PageAssets()

    /// How long a browser keeps a file, in seconds: a year, since another version has another address.
    static let age = 31_536_000

    private let files: [String: Asset]
    /// Changes with any of the files: what they are asked with, and their tag.
    let version: String

    private init() {
        files = [
            "style.css": Asset(contentType: "text/css; charset=utf-8", bytes: PackageResources.style_css),
            "live.js": Asset(contentType: "text/javascript; charset=utf-8", bytes: PackageResources.live_js),
            "plot.js": Asset(contentType: "text/javascript; charset=utf-8", bytes: PackageResources.plot_js),
            "icon.svg": Asset(contentType: "image/svg+xml", bytes: PackageResources.icon_svg),
        ]
        // FNV-1a, which tells versions apart and protects nothing.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for name in files.keys.sorted() {
            for byte in files[name]?.bytes ?? [] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        version = String(hash, radix: 16)
    }

    /// The answer to a request for a file below `assets/`; `nil` if there is none. Only a request with the version is kept.
    func answer(to request: WebRequest, _ name: String) -> WebAnswer? {
        guard let file = files[name] else { return nil }
        let tag = "\"\(version)\""
        let isKnown = request.header("If-None-Match")?.contains(tag) ?? false
        var answer = WebAnswer(isKnown ? 304 : 200, file.contentType, isKnown ? [] : file.bytes)
        let isKept = request.query == version
        answer.headers = [
            ("ETag", tag), ("Cache-Control", isKept ? "public, max-age=\(Self.age), immutable" : "no-cache"),
            ("Cross-Origin-Resource-Policy", "same-origin"), ("Content-Security-Policy", "default-src 'none'"),
        ]
        return answer
    }
}
