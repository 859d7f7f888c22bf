/// Parses a short text of fixed form from left to right. Each step takes what it names, or fails.
struct TextCursor {
    private var rest: Substring.UTF8View

    /// A cursor before the first byte of `text`.
    init(_ text: String) { rest = text[...].utf8 }

    /// Whether the whole text was taken.
    var isAtEnd: Bool { rest.isEmpty }

    /// Takes exactly `count` decimal digits.
    mutating func number(digits count: Int) -> Int? {
        var result = 0
        for _ in 0..<count {
            guard let digit = digit() else { return nil }
            result = result * 10 + digit
        }
        return result
    }

    /// Takes one decimal digit.
    mutating func digit() -> Int? {
        guard let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        rest.removeFirst()
        return Int(byte - UInt8(ascii: "0"))
    }

    /// Takes one hexadecimal digit of either case.
    mutating func hexadecimalDigit() -> UInt64? {
        guard let digit = rest.first.flatMap(Hexadecimal.value) else { return nil }
        rest.removeFirst()
        return UInt64(digit)
    }

    /// Takes this ASCII character if it comes next. Returns whether it did.
    mutating func consume(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }
}
