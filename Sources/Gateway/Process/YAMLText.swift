package import JSON
import Yams

/// Writes a value as YAML that YAML 1.1 and 1.2 read alike: texts that are no plain words are in quotes.
package enum YAMLText {
    package static func of(_ value: JSONValue) throws -> String {
        try Yams.serialize(node: node(of: value), indent: 2, width: -1, allowUnicode: true)
    }

    private static func node(of value: JSONValue) -> Node {
        switch value {
        case .null: Node("null")
        case .bool(let flag): Node(flag ? "true" : "false")
        case .number: Node(value.description)
        case .string(let text): scalar(text)
        case .array(let elements): .sequence(Node.Sequence(elements.map { node(of: $0) }, .implicit, .block))
        case .object(let members):
            .mapping(Node.Mapping(members.map { (Node($0.key), node(of: $0.value)) }, .implicit, .block))
        }
    }

    private static func scalar(_ text: String) -> Node {
        let style: Node.Scalar.Style =
            text.contains("\n") ? .literal : isPlain(text) ? .plain : .doubleQuoted
        return .scalar(Node.Scalar(text, Tag(.str), style))
    }

    /// Whether a text is the same in every YAML without quotes: letters, digits and a few marks, and no word for a
    /// truth, nothing or a number.
    private static func isPlain(_ text: String) -> Bool {
        guard let first = text.first, first.isASCII, first.isLetter, text.last != ":",
            text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "_-.:".contains($0)) })
        else { return false }
        return !["true", "false", "yes", "no", "on", "off", "y", "n", "null"].contains(text.lowercased())
    }
}
