extension SampleID: CustomStringConvertible {
    /// Length of the text form, in bytes.
    private static let textLength = 36
    /// Number of digits of each group of the text form.
    private static let groups = [8, 4, 4, 4, 12]

    /// The id in the usual text form, in lower case: `5f0c6b0e-6d1d-5b0a-9a53-0d6a0f4f6a11`.
    public var description: String { String(textCount: Self.textLength, write) }

    /// Appends the text form.
    public func append(to bytes: inout [UInt8]) { bytes.appendText(count: Self.textLength, write) }

    /// The id of a text of 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12, joined by hyphens, in either case;
    /// `nil` for any other text. Version and variant are not checked.
    public init?(_ text: String) {
        var cursor = TextCursor(text)
        var halves: (high: UInt64, low: UInt64) = (0, 0)
        for (index, count) in Self.groups.enumerated() {
            if index > 0, !cursor.consume("-") { return nil }
            for _ in 0..<count {
                guard let digit = cursor.hexadecimalDigit() else { return nil }
                halves = (halves.high << 4 | halves.low >> 60, halves.low << 4 | digit)
            }
        }
        guard cursor.isAtEnd else { return nil }
        self.init(high: halves.high, low: halves.low)
    }

    private func write(to text: UnsafeMutableBufferPointer<UInt8>) {
        text.writeHexadecimal(high >> 32, count: 8, at: 0)
        text.writeHexadecimal(high >> 16, count: 4, at: 9)
        text.writeHexadecimal(high, count: 4, at: 14)
        text.writeHexadecimal(low >> 48, count: 4, at: 19)
        text.writeHexadecimal(low, count: 12, at: 24)
        text[8] = UInt8(ascii: "-")
        text[13] = UInt8(ascii: "-")
        text[18] = UInt8(ascii: "-")
        text[23] = UInt8(ascii: "-")
    }
}
