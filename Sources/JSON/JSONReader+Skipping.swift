extension JSONReader {
    /// Reads `true` or `false`.
    package mutating func bool() throws(JSONError) -> Bool {
        guard try peek() == .bool else { throw JSONError(.wrongType, at: index) }
        if bytes[index] == UInt8(ascii: "t") {
            try literal("true")
            return true
        }
        try literal("false")
        return false
    }

    /// Reads `null` if it comes next. Returns whether it did.
    package mutating func takeNull() throws(JSONError) -> Bool {
        guard try peek() == .null else { return false }
        try literal("null")
        return true
    }

    /// Skips the next value of any kind, and checks its grammar.
    package mutating func skip() throws(JSONError) {
        switch try peek() {
        case .object:
            try beginObject()
            while try skipKey() { try skip() }
        case .array:
            try beginArray()
            while try nextElement() { try skip() }
        case .string: _ = try scanString()
        case .number: try skipNumber()
        case .bool: _ = try bool()
        case .null: _ = try takeNull()
        }
    }

    /// Skips the next value like `skip`. Returns its range, for a later reader.
    package mutating func raw() throws(JSONError) -> Range<Int> {
        skipWhitespace()
        let start = index
        try skip()
        return start..<index
    }

    private mutating func literal(_ text: StaticString) throws(JSONError) {
        for offset in 0..<text.utf8CodeUnitCount {
            guard index + offset < end else { throw JSONError(.unexpectedEnd, at: end) }
            guard bytes[index + offset] == text.withUTF8Buffer({ $0[offset] }) else {
                throw JSONError(.unexpectedByte, at: index + offset)
            }
        }
        index += text.utf8CodeUnitCount
    }
}
