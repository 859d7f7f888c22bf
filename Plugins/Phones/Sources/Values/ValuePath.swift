import JSON

/// Where a value is in a JSON document: `a.b`, `list[0].value`, or `list.0.value`. A name with a point, a bracket or nothing in it
/// stands in quotes and brackets: `["a.b"].c`.
struct ValuePath: Sendable, Hashable {
    /// The most names and indices of a path: JSON is not read deeper.
    static let maximumDepth = 32

    /// Names, which are indices in a list.
    private let names: [String]

    /// Reads a path; `nil` if the text is none.
    init?(_ text: String) {
        var names: [String] = []
        var rest = Substring(text)
        while !rest.isEmpty {
            if rest.hasPrefix("[\"") {
                let name = rest.dropFirst(2).prefix { $0 != "\"" }
                rest = rest.dropFirst(2 + name.count)
                guard rest.hasPrefix("\"]") else { return nil }
                names.append(String(name))
                rest = rest.dropFirst(2)
            } else if rest.hasPrefix("[") {
                guard let end = rest.firstIndex(of: "]"), let index = Int(rest[..<end].dropFirst()), index >= 0 else {
                    return nil
                }
                names.append("\(index)")
                rest = rest[end...].dropFirst()
            } else {
                let name = rest.prefix { $0 != "." && $0 != "[" }
                guard !name.isEmpty else { return nil }
                names.append(String(name))
                rest = rest.dropFirst(name.count)
            }
            guard rest.first == "." else { continue }
            rest = rest.dropFirst()
            // Nothing follows the point.
            if rest.isEmpty { return nil }
        }
        guard (1...Self.maximumDepth).contains(names.count) else { return nil }
        self.names = names
    }

    /// The value at the path; `nil` if there is none, or `null`.
    func value(in document: JSONValue) -> JSONValue? {
        var value = document
        for name in names {
            let next = value.asArray == nil ? value[name] : Int(name).flatMap { value[$0] }
            guard let next else { return nil }
            value = next
        }
        // In an expression with a value `nil` would be the JSON's own.
        if value.isNull { return nil }
        return value
    }
}

extension JSONValue {
    /// The content of a message: JSON, numbers with commas between them as a list, or else a text.
    init(message bytes: [UInt8]) {
        if let value = try? JSONValue(parsing: bytes) {
            self = value
            return
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { JSONValue.string(String($0)) }
        self = parts.count > 1 && parts.allSatisfy { $0.asNumber != nil } ? .array(parts) : .string(text)
    }

    /// The number, also one that is written as a text; `nil` for anything else.
    var asNumber: Double? {
        if let number = asDouble { return number }
        guard let text = asString else { return nil }
        let words = text.split(whereSeparator: \.isWhitespace)
        // Not what Swift reads beside decimal numbers, such as `nan`, `inf` and `0x1p3`.
        guard words.count == 1, words[0].utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }),
            let value = Double(words[0]), value.isFinite
        else { return nil }
        return value
    }

    /// A scalar as the text that a condition has.
    var asText: String? {
        switch self {
        case .string(let text): text
        case .bool(let value): value ? "true" : "false"
        case .number: description
        case .null, .array, .object: nil
        }
    }
}
