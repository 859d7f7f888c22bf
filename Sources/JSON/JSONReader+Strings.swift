/// A string as written: the bytes between the quotes.
struct ScannedString {
    var range: Range<Int>
    var isEscaped: Bool
    /// The hash of the bytes as written (see `JSONWordIndex`).
    var hash: UInt32
}

extension JSONReader {
    /// Reads a string.
    package mutating func string() throws(JSONError) -> String { decode(try scanString()) }

    /// Reads a string, or `nil` for `null`.
    package mutating func optionalString() throws(JSONError) -> String? {
        try takeNull() ? nil : try string()
    }

    /// Reads a string that is one of `words`; `nil` for any other string. Creates no `String`.
    @inlinable
    package mutating func word<Word>(in words: JSONWords<Word>) throws(JSONError) -> Word? {
        let found = try word(in: words.index)
        return found < 0 ? nil : words.words[found]
    }

    @usableFromInline
    mutating func word(in words: JSONWordIndex) throws(JSONError) -> Int {
        find(try scanString(), in: words)
    }

    func find(_ text: ScannedString, in words: JSONWordIndex) -> Int {
        if text.isEscaped {
            let plain = Array(decode(text).utf8)
            return words.find(plain, 0..<plain.count, hash: JSONWordIndex.hash(plain))
        }
        return words.find(bytes, text.range, hash: text.hash)
    }

    /// Scans and checks a string without creating a `String`.
    mutating func scanString() throws(JSONError) -> ScannedString {
        skipWhitespace()
        guard index < end else { throw JSONError(.unexpectedEnd, at: end) }
        guard bytes[index] == UInt8(ascii: "\"") else { throw try mismatch() }
        let start = index + 1
        var position = start
        var hash: UInt32 = 0
        var isEscaped = false
        while position < end {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                index = position + 1
                return ScannedString(range: start..<position, isEscaped: isEscaped, hash: hash)
            }
            if byte == UInt8(ascii: "\\") {
                isEscaped = true
                position += try escapeLength(at: position)
            } else if byte < 0x20 {
                throw JSONError(.controlCharacter, at: position)
            } else if byte < 0x80 {
                hash = JSONWordIndex.step(hash, byte)
                position += 1
            } else {
                let length = try characterLength(at: position)
                for offset in 0..<length { hash = JSONWordIndex.step(hash, bytes[position + offset]) }
                position += length
            }
        }
        throw JSONError(.unexpectedEnd, at: end)
    }

    /// The text of a string checked by `scanString`.
    func decode(_ text: ScannedString) -> String {
        if !text.isEscaped { return String(decoding: bytes[text.range], as: UTF8.self) }
        var plain: [UInt8] = []
        plain.reserveCapacity(text.range.count)
        var position = text.range.lowerBound
        while position < text.range.upperBound {
            let byte = bytes[position]
            guard byte == UInt8(ascii: "\\") else {
                plain.append(byte)
                position += 1
                continue
            }
            let code = bytes[position + 1]
            position += 2
            switch code {
            case UInt8(ascii: "b"): plain.append(0x08)
            case UInt8(ascii: "f"): plain.append(0x0C)
            case UInt8(ascii: "n"): plain.append(0x0A)
            case UInt8(ascii: "r"): plain.append(0x0D)
            case UInt8(ascii: "t"): plain.append(0x09)
            case UInt8(ascii: "u"):
                var value = hexadecimal(at: position) ?? 0xFFFD
                position += 4
                if value & 0xFC00 == 0xD800, let low = hexadecimal(at: position + 2) {
                    value = 0x10000 + (value & 0x3FF) << 10 + low & 0x3FF
                    position += 6
                }
                plain += Array(String(Character(Unicode.Scalar(value) ?? "\u{FFFD}")).utf8)
            default: plain.append(code)
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }
}

extension JSONReader {
    /// The length of the escape at `position`; both halves of a surrogate pair.
    private func escapeLength(at position: Int) throws(JSONError) -> Int {
        guard position + 1 < end else { throw JSONError(.unexpectedEnd, at: end) }
        switch bytes[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return 2
        case UInt8(ascii: "u"):
            guard let value = hexadecimal(at: position + 2) else { throw JSONError(.invalidEscape, at: position) }
            switch value & 0xFC00 {
            case 0xD800:
                guard position + 7 < end, bytes[position + 6] == UInt8(ascii: "\\"),
                    bytes[position + 7] == UInt8(ascii: "u"), let low = hexadecimal(at: position + 8),
                    low & 0xFC00 == 0xDC00
                else { throw JSONError(.invalidEscape, at: position) }
                return 12
            case 0xDC00: throw JSONError(.invalidEscape, at: position)
            default: return 6
            }
        default: throw JSONError(.invalidEscape, at: position)
        }
    }

    /// The value of the four hexadecimal digits at `position`; `nil` if there are none.
    private func hexadecimal(at position: Int) -> UInt32? {
        guard position + 4 <= end else { return nil }
        var value: UInt32 = 0
        for offset in 0..<4 {
            let byte = bytes[position + offset]
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: return nil
            }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    /// The length of the valid UTF-8 sequence of two to four bytes at `position` (RFC 3629, section 4).
    private func characterLength(at position: Int) throws(JSONError) -> Int {
        func continues(_ offset: Int, _ range: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
            position + offset < end && range.contains(bytes[position + offset])
        }
        let isValid: Bool
        let length: Int
        switch bytes[position] {
        case 0xC2...0xDF: (isValid, length) = (continues(1), 2)
        case 0xE0: (isValid, length) = (continues(1, 0xA0...0xBF) && continues(2), 3)
        case 0xED: (isValid, length) = (continues(1, 0x80...0x9F) && continues(2), 3)
        case 0xE1...0xEF: (isValid, length) = (continues(1) && continues(2), 3)
        case 0xF0: (isValid, length) = (continues(1, 0x90...0xBF) && continues(2) && continues(3), 4)
        case 0xF1...0xF3: (isValid, length) = (continues(1) && continues(2) && continues(3), 4)
        case 0xF4: (isValid, length) = (continues(1, 0x80...0x8F) && continues(2) && continues(3), 4)
        default: (isValid, length) = (false, 1)
        }
        guard isValid else { throw JSONError(.invalidUTF8, at: position) }
        return length
    }
}
