/// Where the counts of a document come from, such as a watch and a phone that both count the same steps.
package struct CountSources: Sendable, Hashable {
    /// The most sources that are named.
    static let maximumNames = 10

    /// The source whose counts are taken; `nil` for those of all.
    private let wanted: String?
    /// The sources of the counts that are taken, in the order in which they came.
    private(set) var names: [String] = []

    init(_ wanted: String?) { self.wanted = wanted }

    /// Notes the source of a count, which may be several with `|` between them where the app has merged its entries. Returns why the
    /// count is skipped; `nil` if it is taken. One without a source is taken.
    mutating func skip(_ name: String, from source: String?) -> String? {
        guard let source, !source.isEmpty else { return nil }
        if let wanted, source != wanted {
            let parts = source.split(separator: "|").map { Self.trimmed($0) }
            guard parts.contains(wanted) else { return "\(name) of another source: \(source.quoted)" }
        }
        let quoted = source.quoted
        if !names.contains(quoted), names.count < Self.maximumNames { names.append(quoted) }
        return nil
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0.isWhitespace }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
