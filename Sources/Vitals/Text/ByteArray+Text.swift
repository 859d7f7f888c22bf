extension [UInt8] {
    /// Appends `count` bytes of text, all filled in by `write`. Avoids a temporary string: ids and times are written
    /// for every sample.
    mutating func appendText(count: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Void) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { text in
            write(text)
            append(contentsOf: text)
        }
    }
}

extension String {
    /// A string of `count` ASCII bytes, all filled in by `write`.
    init(textCount count: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Void) {
        self.init(unsafeUninitializedCapacity: count) { text in
            write(UnsafeMutableBufferPointer(rebasing: text[..<count]))
            return count
        }
    }
}

extension UnsafeMutableBufferPointer<UInt8> {
    /// Writes the last `count` decimal digits of a non-negative number from `position` on, with leading zeros.
    func writeDigits(_ number: Int, count: Int, at position: Int) {
        var rest = UInt(number)
        for index in stride(from: position + count - 1, through: position, by: -1) {
            self[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    /// Writes the last `count` hexadecimal digits of a number from `position` on, in lower case.
    func writeHexadecimal(_ number: UInt64, count: Int, at position: Int) {
        var rest = number
        for index in stride(from: position + count - 1, through: position, by: -1) {
            let digit = UInt8(truncatingIfNeeded: rest & 15)
            self[index] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
            rest >>= 4
        }
    }
}
