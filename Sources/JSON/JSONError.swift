/// Why a text is not JSON, or not the value that was wanted, and where.
package struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    package enum Reason: String, Sendable, Hashable {
        /// The text ends within a value.
        case unexpectedEnd = "the text ends within a value"
        /// A byte stands where the grammar of RFC 8259 does not allow it.
        case unexpectedByte = "this does not belong here"
        /// A string has bytes that are no UTF-8 (RFC 3629).
        case invalidUTF8 = "the text is not UTF-8"
        /// A string has an unknown escape, or half of a surrogate pair.
        case invalidEscape = "this is no valid escape"
        /// A control character within a string is not escaped.
        case controlCharacter = "a control character must be escaped"
        /// A number is not written as RFC 8259 wants it.
        case invalidNumber = "this is no number"
        /// A number is too great for the type that was wanted.
        case numberOutOfRange = "the number is out of range"
        /// Arrays and objects are nested deeper than `JSONReader.maximumDepth`.
        case tooDeep = "the nesting is too deep"
        /// More follows after the value.
        case trailingBytes = "something follows after the value"
        /// The text may be good JSON, but the value here has another type than the one that was wanted.
        case wrongType = "the value has the wrong type"
        /// A member that is needed is missing, or its value is not one of those allowed.
        case wrongValue = "the value is missing or not one of those allowed"
    }
    /// What is wrong.
    package var reason: Reason
    /// Where: bytes from the beginning of the reader's array.
    package var offset: Int

    /// An error at an offset.
    package init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    /// The text for a person.
    package var description: String { "Byte \(offset): \(reason.rawValue)." }
}
