extension JSONValue {
    /// The value of a key; `nil` if the key is missing or this is not an object.
    package subscript(key: String) -> JSONValue? { asObject?.last { $0.key == key }?.value }

    /// An element; `nil` beyond the end or if this is not an array.
    package subscript(position: Int) -> JSONValue? {
        guard let elements = asArray, elements.indices.contains(position) else { return nil }
        return elements[position]
    }

    /// Whether this is `null`.
    package var isNull: Bool { self == .null }

    /// The Boolean; `nil` for any other kind.
    package var asBool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The number; `nil` for any other kind.
    package var asDouble: Double? { if case .number(let value) = self { value } else { nil } }

    /// The integer, up to 2^53; `nil` for any other number or kind.
    package var asInt64: Int64? {
        guard let value = asDouble, value.magnitude <= JSONReader.maximumExactInteger else { return nil }
        let whole = Int64(value)
        return Double(whole) == value ? whole : nil
    }

    /// The integer, up to 2^53; `nil` for any other number or kind.
    package var asInt: Int? { asInt64.flatMap { Int(exactly: $0) } }

    /// The string; `nil` for any other kind.
    package var asString: String? { if case .string(let value) = self { value } else { nil } }

    /// The elements; `nil` for any other kind.
    package var asArray: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

    /// The members in order; `nil` for any other kind.
    package var asObject: [Member]? { if case .object(let value) = self { value } else { nil } }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// `null`.
    package init(nilLiteral: ()) { self = .null }
    /// A Boolean.
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An integer.
    package init(integerLiteral value: Int) { self = .number(Double(value)) }
    /// A number.
    package init(floatLiteral value: Double) { self = .number(value) }
    /// A string.
    package init(stringLiteral value: String) { self = .string(value) }
    /// An array.
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object. The last value of a duplicate key wins.
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Self.withoutDuplicates(elements.map { Member($0.0, $0.1) }))
    }
}
