extension JSONWriter {
    /// Writes a member with a string or `null`.
    package mutating func member(_ key: StaticString, _ value: String?) {
        self.key(key)
        if let value { string(value) } else { null() }
    }

    /// Writes a member with an integer or `null`.
    package mutating func member(_ key: StaticString, _ value: Int?) {
        self.key(key)
        if let value { int(value) } else { null() }
    }

    /// Writes a member with an integer or `null`.
    package mutating func member(_ key: StaticString, _ value: Int64?) {
        self.key(key)
        if let value { int(value) } else { null() }
    }

    /// Writes a member with a number or `null`.
    package mutating func member(_ key: StaticString, _ value: Double?) {
        self.key(key)
        if let value { double(value) } else { null() }
    }

    /// Writes a member with `true`, `false` or `null`.
    package mutating func member(_ key: StaticString, _ value: Bool?) {
        self.key(key)
        if let value { bool(value) } else { null() }
    }

    /// Writes a member with any value or `null`.
    package mutating func member(_ key: StaticString, _ value: JSONValue?) {
        self.key(key)
        if let value { value.write(to: &self) } else { null() }
    }

    /// Writes a member with an object, whose members `body` writes.
    package mutating func member(_ key: StaticString, object body: (inout JSONWriter) -> Void) {
        self.key(key)
        beginObject()
        body(&self)
        endObject()
    }

    /// Writes a member with an array, for each element of which `body` writes the value.
    package mutating func member<Element>(
        _ key: StaticString, array elements: some Sequence<Element>, _ body: (inout JSONWriter, Element) -> Void
    ) {
        self.key(key)
        beginArray()
        for element in elements { body(&self, element) }
        endArray()
    }
}
