import GatewayKit
import Vitals

/// A source of records, as a document names it.
struct NamedSource: Sendable, Hashable {
    var name: String
    var kind: SourceOrder.Kind
    /// Other names by which the options may name it.
    var otherNames: [String] = []
    /// Whether it is several that the app has put together.
    var isMerged = false
}

extension NamedSource {
    /// A source, or several with `|` between them where the app has merged their entries. Those come before the first of them.
    init?(merged text: String?) {
        guard let text, !text.isEmpty else { return nil }
        let parts = text.split(separator: "|").map { Self.trimmed($0) }
        let kinds = parts.map { SourceOrder.Kind(name: $0) }
        self.init(
            name: text, kind: kinds.min { $0.rawValue < $1.rawValue } ?? .other, otherNames: parts,
            isMerged: parts.count > 1)
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0.isWhitespace }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}

/// Where the records of a document come from, such as a watch and a phone that both count the same steps.
package struct CountSources: Sendable, Hashable {
    /// The most sources that are named, and kept in mind.
    static let maximumNames = 10

    /// The source whose counts are taken; `nil` for those of all.
    private let wanted: String?
    private let order: SourceOrder
    private var origins: [String: SampleOrigin] = [:]
    /// Sources that are taken, as they are written.
    private var taken: Set<String> = []
    /// The sources of the counts that are taken, in the order in which they came.
    private(set) var names: [String] = []

    init(_ wanted: String?, order: SourceOrder = SourceOrder()) { (self.wanted, self.order) = (wanted, order) }

    /// Notes the source of a count. Returns why the count is skipped; `nil` if it is taken. One without a source is taken.
    /// - Parameters:
    ///   - source: the name in the option that picks one; several with `|` between them have each of these names.
    ///   - full: the name of the source, if it is another one.
    mutating func skip(_ name: String, from source: String?, as full: String? = nil) -> String? {
        guard let source, !source.isEmpty, full != nil || !taken.contains(source) else { return nil }
        if let wanted, source != wanted, NamedSource(merged: source)?.otherNames.contains(wanted) != true {
            return "\(name) of another source: \(source.quoted)"
        }
        if full == nil, taken.count < Self.maximumNames { taken.insert(source) }
        let quoted = (full ?? source).quoted
        if !names.contains(quoted), names.count < Self.maximumNames { names.append(quoted) }
        return nil
    }

    /// The sources of the counts in their order, each with the reason for its place. Of an interval the first one counts.
    var inOrder: [String] {
        names.map { name in (name: name, origin: origins.first { $0.key.quoted == name }?.value) }
            .sorted { Precedence(of: $0.origin, over: $1.origin) == .before }
            .map { source in source.origin.map { "\(source.name) (\(SourceOrder.reason(of: $0)))" } ?? source.name }
    }

    /// The origin of a record of this source. One without a source has one, too, behind all others: else its value would be taken for
    /// that of any source with the same one.
    mutating func origin(of source: NamedSource?) -> SampleOrigin {
        guard let source else { return SourceOrder.nameless }
        if let known = origins[source.name] { return known }
        let origin = order.origin(
            of: source.name, source.kind, otherNames: source.otherNames, isMerged: source.isMerged)
        if origins.count < Self.maximumNames { origins[source.name] = origin }
        return origin
    }
}
