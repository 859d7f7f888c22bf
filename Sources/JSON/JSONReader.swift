/// Reads JSON (RFC 8259) from bytes, value by value and in their order, without building a tree.
///
/// The consumer asks for what it expects:
///
///     try reader.beginObject()
///     while let key = try reader.nextKey(in: keys) {
///         switch key {
///         case .metric: metric = try reader.word(in: metrics)
///         case .start: start = try reader.int64()
///         }
///     }
///     try reader.finish()
///
/// Each key's and each element's value must be read or skipped before the next one is asked for. Where a key stands
/// twice, both come, so that the last one wins if the consumer just assigns. The grammar is strict, and every access is
/// within bounds: no input makes it trap. Gateways read tens of thousands of samples a second on small boards, where a
/// decoder that builds dictionaries costs ten times as much.
package struct JSONReader: Sendable {
    /// How deep arrays and objects may be nested. Nothing of ours is nested deeper than 6, and the limit bounds the
    /// stack that hostile input can use.
    package static let maximumDepth = 32

    /// The bytes that are read.
    package let bytes: [UInt8]
    /// Where the reader stands.
    package internal(set) var index: Int
    let end: Int
    var depth = 0
    /// Whether the next member or element is the first of its container, before which no comma stands.
    var isFirst = false

    /// A reader of all of `bytes`.
    package init(_ bytes: [UInt8]) {
        self.init(bytes, range: 0..<bytes.count)
    }

    /// A reader of a part of `bytes`. What of the range is out of bounds is not read.
    package init(_ bytes: [UInt8], range: Range<Int>) {
        let range = range.clamped(to: 0..<bytes.count)
        self.bytes = bytes
        self.index = range.lowerBound
        self.end = range.upperBound
    }

    /// What kind of value comes next.
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

    /// Enters an object. Its members are asked for with `nextKey` until that returns `nil`.
    package mutating func beginObject() throws(JSONError) { try begin(UInt8(ascii: "{")) }

    /// Enters an array. `nextElement` goes from one element to the next.
    package mutating func beginArray() throws(JSONError) { try begin(UInt8(ascii: "[")) }

    /// Goes to the next element of the array; `false` when the array has ended, which leaves it.
    package mutating func nextElement() throws(JSONError) -> Bool {
        try next(closing: UInt8(ascii: "]"))
    }

    /// Goes to the next member of the object and returns its key; `nil` when the object has ended, which leaves it.
    package mutating func nextKey() throws(JSONError) -> String? {
        guard try next(closing: UInt8(ascii: "}")) else { return nil }
        let text = try scanKey()
        return decode(text)
    }

    /// Goes to the next member whose key is one of `words`, and skips the others; `nil` when the object has ended.
    @inlinable
    package mutating func nextKey<Word>(in words: JSONWords<Word>) throws(JSONError) -> Word? {
        let found = try nextKey(in: words.index)
        return found < 0 ? nil : words.words[found]
    }

    /// The position of the next known key, -1 at the object's end. Not generic, so that it is compiled once.
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

    /// Goes to the next member of the object without its key; `false` when the object has ended.
    mutating func skipKey() throws(JSONError) -> Bool {
        guard try next(closing: UInt8(ascii: "}")) else { return false }
        _ = try scanKey()
        return true
    }

    /// Checks that nothing but white space follows.
    package mutating func finish() throws(JSONError) {
        skipWhitespace()
        if index < end { throw JSONError(.trailingBytes, at: index) }
    }
}

/// The kinds of value in JSON.
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
        // A closing bracket after a comma is found by whoever reads the value that should stand there.
        return true
    }

    /// Goes over a key and its colon.
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

    /// The error for a value that is not of the type that was wanted: it tells bad grammar from a good value of another
    /// type.
    mutating func mismatch() throws(JSONError) -> JSONError {
        _ = try peek()
        return JSONError(.wrongType, at: index)
    }
}
