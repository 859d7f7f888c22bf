/// A value of the configuration file, with its line.
public struct ConfigurationValue: Sendable, Hashable {
    /// What the value is.
    public indirect enum Content: Sendable, Hashable {
        /// A scalar. `isQuoted` distinguishes a quoted string from a plain word, which may be a number or a switch.
        case scalar(String, isQuoted: Bool)
        /// A list.
        case list([ConfigurationValue])
        /// Keys and values, in the file's order.
        case map([(key: ConfigurationKey, value: ConfigurationValue)])
        /// Nothing (`null`, `~`, or an empty value).
        case null

        /// Compares contents in the order of the file.
        public static func == (a: Content, b: Content) -> Bool {
            switch (a, b) {
            case (.scalar(let x, let p), .scalar(let y, let q)): x == y && p == q
            case (.list(let x), .list(let y)): x == y
            case (.map(let x), .map(let y)): x.elementsEqual(y) { $0.key == $1.key && $0.value == $1.value }
            case (.null, .null): true
            default: false
            }
        }

        /// Hashes the contents.
        public func hash(into hasher: inout Hasher) {
            switch self {
            case .scalar(let text, let isQuoted):
                hasher.combine(text)
                hasher.combine(isQuoted)
            case .list(let values): hasher.combine(values)
            case .map(let members):
                for member in members {
                    hasher.combine(member.key)
                    hasher.combine(member.value)
                }
            case .null: hasher.combine(0)
            }
        }
    }

    /// What the value is.
    public var content: Content
    /// The line on which it begins, from 1; 0 for a value that is not from a file.
    public var line: Int

    /// A value on a line.
    public init(_ content: Content, line: Int = 0) {
        self.content = content
        self.line = line
    }
}

/// A key of a map, with its line.
public struct ConfigurationKey: Sendable, Hashable {
    /// The key's text.
    public var text: String
    /// The line, from 1; 0 for a key that is not from a file.
    public var line: Int
    /// A key on a line.
    public init(_ text: String, line: Int = 0) {
        self.text = text
        self.line = line
    }
}

extension ConfigurationValue {
    /// Whether two values are equal apart from their lines.
    public func hasSameMeaning(as other: ConfigurationValue) -> Bool {
        switch (content, other.content) {
        case (.scalar(let x, let p), .scalar(let y, let q)): x == y && p == q
        case (.list(let x), .list(let y)): x.count == y.count && zip(x, y).allSatisfy { $0.hasSameMeaning(as: $1) }
        case (.map(let x), .map(let y)):
            x.count == y.count
                && zip(x, y).allSatisfy { $0.key.text == $1.key.text && $0.value.hasSameMeaning(as: $1.value) }
        case (.null, .null): true
        default: false
        }
    }
}

/// An issue in the configuration, with its line.
public struct ConfigurationIssue: Sendable, Hashable, CustomStringConvertible {
    /// The line, from 1; 0 if the issue belongs to no line.
    public var line: Int
    /// The key's path, such as `devices[0].transport.port`.
    public var path: String
    /// What is wrong, and what would be right.
    public var message: String
    /// The file, if it is another one than the configuration file.
    package var file: String?
    /// The key, if it is not known at its place and nothing similar is: it may belong to another one.
    package var strangeKey: String?
    /// An issue.
    public init(line: Int, path: String, message: String) {
        self.line = line
        self.path = path
        self.message = message
    }

    /// The text for a person.
    public var description: String { "\(file.map { "\($0), " } ?? "")line \(line): \(path): \(message)" }
}

extension ConfigurationValue {
    /// The same value without lines, for comparing values regardless of their place in the file.
    public var withoutLines: ConfigurationValue {
        switch content {
        case .scalar, .null: ConfigurationValue(content)
        case .list(let values): ConfigurationValue(.list(values.map(\.withoutLines)))
        case .map(let members):
            ConfigurationValue(.map(members.map { (ConfigurationKey($0.key.text), $0.value.withoutLines) }))
        }
    }

    /// The value of a map's key, `nil` if there is none.
    public subscript(key: String) -> ConfigurationValue? {
        guard case .map(let members) = content else { return nil }
        return members.first { $0.key.text == key }?.value
    }
}
