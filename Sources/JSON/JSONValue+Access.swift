extension JSONValue {
    /// The value of a key; `nil` where the key does not stand or this is no object.
    package subscript(key: String) -> JSONValue? { asObject?.last { $0.key == key }?.value }

    /// An element; `nil` beyond the end or where this is no array.
    package subscript(position: Int) -> JSONValue? {
        guard let elements = asArray, elements.indices.contains(position) else { return nil }
        return elements[position]
    }

    /// Whether this is `null`.
    package var isNull: Bool { self == .null }

    /// The truth value, `nil` for any other kind.
    package var asBool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The number, `nil` for any other kind.
    package var asDouble: Double? { if case .number(let value) = self { value } else { nil } }

    /// The whole number up to 2^53, `nil` for any other number or kind.
    package var asInt64: Int64? {
        guard let value = asDouble, value.magnitude <= JSONReader.maximumExactInteger else { return nil }
        let whole = Int64(value)
        return Double(whole) == value ? whole : nil
    }

    /// The whole number up to 2^53, `nil` for any other number or kind.
    package var asInt: Int? { asInt64.flatMap { Int(exactly: $0) } }

    /// The text, `nil` for any other kind.
    package var asString: String? { if case .string(let value) = self { value } else { nil } }

    /// The elements, `nil` for any other kind.
    package var asArray: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

    /// The members in their order, `nil` for any other kind.
    package var asObject: [Member]? { if case .object(let value) = self { value } else { nil } }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// `null`.
    package init(nilLiteral: ()) { self = .null }
    /// True or false.
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A whole number.
    package init(integerLiteral value: Int) { self = .number(Double(value)) }
    /// A number.
    package init(floatLiteral value: Double) { self = .number(value) }
    /// A text.
    package init(stringLiteral value: String) { self = .string(value) }
    /// A list.
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Keys with values. A key that stands twice keeps its last value.
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Self.withoutDuplicates(elements.map { Member($0.0, $0.1) }))
    }
}
