/// The forms of a list. The raw value is the word of `format`.
enum APIFormat: String, CaseIterable, Sendable {
    /// One object with the list and the next page.
    case json
    /// An object on each line.
    case ndjson
    /// A table by RFC 4180, with a header.
    case csv

    var mediaType: String {
        switch self {
        case .json: "application/json"
        case .ndjson: "application/x-ndjson"
        case .csv: "text/csv; charset=utf-8"
        }
    }

    /// The most media ranges of an `Accept` that are read: clients send a handful.
    static let maximumRanges = 32

    /// The first of `offered` that a client likes best, by `Accept` (RFC 9110, section 12.5.1); `nil` if it takes none of them.
    static func accepted(_ accept: String?, among offered: [APIFormat]) -> APIFormat? {
        guard let accept, accept.contains(where: { $0 != " " && $0 != "\t" }) else { return offered.first }
        let ranges = accept.split(separator: ",").prefix(maximumRanges).map { MediaRange($0) }
        var best: (format: APIFormat, quality: Double)?
        for format in offered {
            // The most specific range that fits says how much the client likes it.
            let fitting = ranges.filter { $0.precision(for: format) > 0 }
            let exact = fitting.max { $0.precision(for: format) < $1.precision(for: format) }
            guard let quality = exact?.quality, quality > 0, quality > best?.quality ?? 0 else { continue }
            best = (format, quality)
        }
        return best?.format
    }

    private struct MediaRange {
        let type: String
        var quality = 1.0

        init(_ text: Substring) {
            let parts = text.split(separator: ";").map { $0.trimmed.lowercased() }
            type = parts.first ?? ""
            for part in parts.dropFirst() where part.hasPrefix("q=") {
                quality = Double(part.dropFirst(2)).map { min(max($0, 0), 1) } ?? 0
            }
        }

        /// How exactly it names a form: 0 if not at all, 3 by its name.
        func precision(for format: APIFormat) -> Int {
            let name = format.mediaType.prefix { $0 != ";" }
            if type == name { return 3 }
            if type == "\(name.prefix { $0 != "/" })/*" { return 2 }
            return type == "*/*" ? 1 : 0
        }
    }
}

extension Substring {
    /// Without spaces and tabs around it.
    var trimmed: Substring {
        let start = drop { $0 == " " || $0 == "\t" }
        return start.lastIndex { $0 != " " && $0 != "\t" }.map { start[...$0] } ?? ""
    }
}
