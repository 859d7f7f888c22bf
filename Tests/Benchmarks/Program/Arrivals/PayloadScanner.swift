import Glibc

/// Scans a measurement's bytes for the fields that the benchmark needs, in their order, without building a tree.
struct PayloadScanner {
    /// A sample as received.
    struct Arrival {
        /// A fingerprint of the 36 characters of `id`; never 0.
        var identity: UInt64
        /// Milliseconds since 1970.
        var start: Int64
        /// Decimals of the value, in thousandths.
        var thousandths: Int64
    }

    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The number of the fact.
    mutating func sequence() -> Int? {
        guard skip(past: "\"seq\":") else { return nil }
        return Int(digits())
    }

    /// Whether the message marks its samples as historical; call it before `sequence`.
    mutating func isHistorical() -> Bool {
        guard skip(past: "\"historical\":"), position < bytes.count else { return false }
        return bytes[position] == UInt8(ascii: "t")
    }

    /// The next sample; `nil` when there is none left.
    mutating func next() -> Arrival? {
        guard skip(past: "\"id\":\""), position + 36 <= bytes.count else { return nil }
        var identity: UInt64 = 0xcbf2_9ce4_8422_2325
        for offset in 0..<36 { identity = (identity ^ UInt64(bytes[position + offset])) &* 0x100_0000_01b3 }
        position += 36
        guard skip(past: "\"start\":\""), position + 24 <= bytes.count else { return nil }
        let start = time()
        guard skip(past: "\"value\":") else { return nil }
        _ = digits()
        var thousandths: Int64 = 0
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            let begin = position
            thousandths = digits()
            for _ in (position - begin)..<max(3, position - begin) { thousandths *= 10 }
        }
        return Arrival(identity: max(1, identity), start: start, thousandths: thousandths)
    }

    /// Moves behind the next occurrence of a word that begins with a quotation mark.
    private mutating func skip(past word: StaticString) -> Bool {
        guard let base = bytes.baseAddress else { return false }
        let length = word.utf8CodeUnitCount
        while position + length <= bytes.count,
            let quote = memchr(base + position, Int32(UInt8(ascii: "\"")), bytes.count - position)
        {
            let found = UnsafeRawPointer(quote) - base
            guard found + length <= bytes.count else { return false }
            if memcmp(quote, word.utf8Start, length) == 0 {
                position = found + length
                return true
            }
            position = found + 1
        }
        return false
    }

    private mutating func digits() -> Int64 {
        var number: Int64 = 0
        while position < bytes.count, case let digit = bytes[position] &- UInt8(ascii: "0"), digit < 10 {
            number = number * 10 + Int64(digit)
            position += 1
        }
        return number
    }

    /// Reads `2026-11-20T22:10:00.000Z`.
    private func time() -> Int64 {
        func number(_ offset: Int, _ count: Int) -> Int64 {
            var number: Int64 = 0
            for index in 0..<count {
                number = number * 10 + Int64(bytes[position + offset + index] &- UInt8(ascii: "0"))
            }
            return number
        }
        let seconds = number(11, 2) * 3600 + number(14, 2) * 60 + number(17, 2)
        let days = Self.days(year: number(0, 4), month: number(5, 2), day: number(8, 2))
        return (days * 86_400 + seconds) * 1000 + number(20, 3)
    }

    /// Days since 1970 of a Gregorian date, counted in years that begin in March.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }
}
