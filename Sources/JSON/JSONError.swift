/// Why and where a text is not JSON, or not the expected value.
package struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    package enum Reason: String, Sendable, Hashable {
        /// The text ends within a value.
        case unexpectedEnd = "the text ends within a value"
        /// A byte that the grammar of RFC 8259 does not allow here.
        case unexpectedByte = "this does not belong here"
        /// A string with bytes that are not UTF-8 (RFC 3629).
        case invalidUTF8 = "the text is not UTF-8"
        /// A string with an unknown escape or half a surrogate pair.
        case invalidEscape = "this is no valid escape"
        /// An unescaped control character within a string.
        case controlCharacter = "a control character must be escaped"
        /// A number that does not follow RFC 8259.
        case invalidNumber = "this is no number"
        /// A number too large for the requested type.
        case numberOutOfRange = "the number is out of range"
        /// Arrays and objects nested deeper than `JSONReader.maximumDepth`.
        case tooDeep = "the nesting is too deep"
        /// More text after the value.
        case trailingBytes = "something follows after the value"
        /// A value, possibly valid JSON, of another type than the requested one.
        case wrongType = "the value has the wrong type"
        /// A required member is missing, or its value is not one of those allowed.
        case wrongValue = "the value is missing or not one of those allowed"
    }
    /// What is wrong.
    package var reason: Reason
    /// Where, in bytes from the beginning of the reader's array.
    package var offset: Int

    /// An error at an offset.
    package init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    /// The error as text for people.
    package var description: String { "Byte \(offset): \(reason.rawValue)." }
}
