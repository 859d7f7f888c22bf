/// Reads JSON (RFC 8259) from bytes, value by value in order, without building a tree.
///
/// The caller asks for what it expects:
///
///     try reader.beginObject()
///     while let key = try reader.nextKey(in: keys) {
///         switch key {
///         case .metric: metric = try reader.word(in: metrics)
///         case .start: start = try reader.int64()
///         }
///     }
///     try reader.expectEnd()
///
/// Each value of a key or array must be read or skipped before the next one is requested. Duplicate keys are both
/// returned, so that the last one wins if the caller simply assigns. The grammar is strict and every access within
/// bounds: no input causes a trap. Gateways read tens of thousands of samples a second on small boards, where a decoder
/// that builds dictionaries costs ten times as much.
package struct JSONReader: Sendable {
    /// Maximum nesting of arrays and objects. Our own documents are nested at most 6 deep; the limit bounds the stack
    /// that hostile input can use.
    package static let maximumDepth = 32

    /// The bytes being read.
    package let bytes: [UInt8]
    /// The current position.
    package internal(set) var index: Int
    let end: Int
    var depth = 0
    /// Whether the next member or element is the first of its container, with no comma before it.
    var isFirst = false

    /// A reader for all of `bytes`.
    package init(_ bytes: [UInt8]) {
        self.init(bytes, range: 0..<bytes.count)
    }

    /// A reader for a part of `bytes`. Ignores what is out of bounds.
    package init(_ bytes: [UInt8], range: Range<Int>) {
        let range = range.clamped(to: 0..<bytes.count)
        self.bytes = bytes
        self.index = range.lowerBound
        self.end = range.upperBound
    }

    /// The kind of the next value.
    package mutating func peek() throws(JSONError) -> JSONKind {
        skipWhitespace()
        guard index < end else { throw JSONError(.unexpectedEnd, at: end) }
        switch bytes[index] {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        default: throw JSONError(.unexpectedByte, at: index)
        }
    }

    /// Enters an object. Call `nextKey` for its members until it returns `nil`.
    package mutating func beginObject() throws(JSONError) { try begin(UInt8(ascii: "{")) }

    /// Enters an array. Call `nextElement` before each element.
    package mutating func beginArray() throws(JSONError) { try begin(UInt8(ascii: "[")) }

    /// Moves to the next element of the array; returns `false` and leaves the array at its end.
    package mutating func nextElement() throws(JSONError) -> Bool {
        try next(closing: UInt8(ascii: "]"))
    }

    /// Moves to the next member of the object and returns its key; returns `nil` and leaves the object at its end.
    package mutating func nextKey() throws(JSONError) -> String? {
        guard try next(closing: UInt8(ascii: "}")) else { return nil }
        let text = try scanKey()
        return decode(text)
    }

    /// Moves to the next member whose key is one of `words`, and skips the others; `nil` at the end of the object.
    @inlinable
    package mutating func nextKey<Word>(in words: JSONWords<Word>) throws(JSONError) -> Word? {
        let found = try nextKey(in: words.index)
        return found < 0 ? nil : words.words[found]
    }

    /// The position of the next known key; -1 at the end of the object. Not generic, so that it is compiled once.
    @usableFromInline
    mutating func nextKey(in words: JSONWordIndex) throws(JSONError) -> Int {
        while try next(closing: UInt8(ascii: "}")) {
            let text = try scanKey()
            let found = find(text, in: words)
            if found >= 0 { return found }
            try skip()
        }
        return -1
    }

    /// Moves to the next member of the object and ignores its key; `false` at the end of the object.
    mutating func skipKey() throws(JSONError) -> Bool {
        guard try next(closing: UInt8(ascii: "}")) else { return false }
        _ = try scanKey()
        return true
    }

    /// Checks that nothing but white space follows.
    package mutating func expectEnd() throws(JSONError) {
        skipWhitespace()
        if index < end { throw JSONError(.trailingBytes, at: index) }
    }
}

/// The kinds of JSON values.
package enum JSONKind: Sendable, Hashable { case object, array, string, number, bool, null }

extension JSONReader {
    mutating func skipWhitespace() {
        while index < end {
            switch bytes[index] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): index += 1
            default: return
            }
        }
    }

    private mutating func begin(_ opening: UInt8) throws(JSONError) {
        skipWhitespace()
        guard index < end else { throw JSONError(.unexpectedEnd, at: end) }
        guard bytes[index] == opening else { throw try mismatch() }
        guard depth < Self.maximumDepth else { throw JSONError(.tooDeep, at: index) }
        index += 1
        depth += 1
        isFirst = true
    }

    private mutating func next(closing: UInt8) throws(JSONError) -> Bool {
        skipWhitespace()
        guard index < end else { throw JSONError(.unexpectedEnd, at: end) }
        let wasFirst = isFirst
        isFirst = false
        let byte = bytes[index]
        if byte == closing {
            index += 1
            depth -= 1
            return false
        }
        if wasFirst { return true }
        guard byte == UInt8(ascii: ",") else { throw JSONError(.unexpectedByte, at: index) }
        index += 1
        // Reading the next value fails at a closing bracket after a comma.
        return true
    }

    /// Scans a key and its colon.
    private mutating func scanKey() throws(JSONError) -> ScannedString {
        skipWhitespace()
        if index < end, bytes[index] != UInt8(ascii: "\"") { throw JSONError(.unexpectedByte, at: index) }
        let text = try scanString()
        skipWhitespace()
        guard index < end else { throw JSONError(.unexpectedEnd, at: end) }
        guard bytes[index] == UInt8(ascii: ":") else { throw JSONError(.unexpectedByte, at: index) }
        index += 1
        return text
    }

    /// The error for a value of another type than the requested one: distinguishes invalid grammar from a valid value
    /// of another type.
    mutating func mismatch() throws(JSONError) -> JSONError {
        _ = try peek()
        return JSONError(.wrongType, at: index)
    }
}
