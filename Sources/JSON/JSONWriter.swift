/// Writes JSON (RFC 8259) into a growing array of bytes, including commas.
///
/// It checks neither that begins and ends match nor that keys are within objects: the order of calls is the order of
/// the text. Only `newline` writes white space.
package struct JSONWriter: Sendable {
    /// The bytes written so far.
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    /// An empty writer, with room for `capacity` bytes.
    package init(reservingCapacity capacity: Int = 0) {
        if capacity > 0 { bytes.reserveCapacity(capacity) }
    }

    /// Begins an object.
    package mutating func beginObject() { open(UInt8(ascii: "{")) }
    /// Ends an object.
    package mutating func endObject() { close(UInt8(ascii: "}")) }
    /// Begins an array.
    package mutating func beginArray() { open(UInt8(ascii: "[")) }
    /// Ends an array.
    package mutating func endArray() { close(UInt8(ascii: "]")) }

    /// Writes the key of a member. It must be one of our own, which needs no escaping.
    package mutating func key(_ name: StaticString) {
        comma()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes the key of a member that is only known at run time.
    package mutating func key(escaping name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a string.
    package mutating func string(_ value: String) {
        comma()
        bytes.append(UInt8(ascii: "\""))
        appendEscaped(value)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a string whose bytes `body` appends: UTF-8 that needs no escaping, such as an id or a time.
    package mutating func quoted(_ body: (inout [UInt8]) -> Void) {
        comma()
        bytes.append(UInt8(ascii: "\""))
        body(&bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a value whose JSON text `body` appends.
    package mutating func append(_ body: (inout [UInt8]) -> Void) {
        comma()
        body(&bytes)
    }

    /// Writes a value that is already JSON text.
    package mutating func raw(bytes text: [UInt8]) {
        comma()
        bytes += text
    }

    /// Writes a value that is already JSON text.
    package mutating func raw(bytes text: ArraySlice<UInt8>) {
        comma()
        bytes += text
    }

    /// Writes `true` or `false`.
    package mutating func bool(_ value: Bool) {
        comma()
        bytes += (value ? "true" : "false").utf8
    }

    /// Writes `null`.
    package mutating func null() {
        comma()
        bytes += "null".utf8
    }

    /// Writes an integer.
    package mutating func int(_ value: Int64) {
        comma()
        appendInteger(value, to: &bytes)
    }

    /// Writes an integer.
    package mutating func int(_ value: Int) { int(Int64(value)) }

    /// Writes a number with the fewest digits that read back as the same number, an integer without a fraction; `null`
    /// if it is not finite.
    package mutating func double(_ value: Double) {
        comma()
        appendNumber(value, to: &bytes)
    }

    /// Ends a document with a line feed and begins the next one.
    package mutating func newline() {
        bytes.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    /// Removes what has been written, but keeps the capacity.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }
}

extension JSONWriter {
    private mutating func comma() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func open(_ bracket: UInt8) {
        comma()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    /// Escapes what RFC 8259, section 7, requires: quotes, backslashes and control characters.
    private mutating func appendEscaped(_ text: String) {
        guard text.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) else {
            bytes += text.utf8
            return
        }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x08: bytes += "\\b".utf8
            case 0x09: bytes += "\\t".utf8
            case 0x0A: bytes += "\\n".utf8
            case 0x0C: bytes += "\\f".utf8
            case 0x0D: bytes += "\\r".utf8
            case 0..<0x20:
                let digits = Array("0123456789abcdef".utf8)
                bytes += "\\u00".utf8
                bytes += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: bytes.append(byte)
            }
        }
    }
}
