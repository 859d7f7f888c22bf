/// A number as written: `mantissa` times ten to the power of `exponent`.
private struct ScannedNumber {
    var range: Range<Int>
    var mantissa: UInt64
    var exponent: Int
    var isNegative: Bool
    /// Whether it has neither a fraction nor an exponent.
    var isInteger: Bool
    /// Whether it has more digits than `mantissa` holds.
    var isLong: Bool
}

extension JSONReader {
    /// The largest magnitude up to which every integer is a `Double`: 2 to the power of 53.
    package static let maximumExactInteger = 9_007_199_254_740_992.0

    /// Reads a number.
    package mutating func double() throws(JSONError) -> Double {
        try double(of: try scanNumber())
    }

    /// Reads an integer. `58.0` and `5.8e1` are integers, too, since JSON has only one kind of number.
    package mutating func int64() throws(JSONError) -> Int64 {
        let number = try scanNumber()
        let outOfRange = JSONError(.numberOutOfRange, at: number.range.lowerBound)
        if number.isInteger {
            guard !number.isLong else { throw outOfRange }
            if !number.isNegative, let value = Int64(exactly: number.mantissa) { return value }
            guard number.isNegative, number.mantissa <= Int64.min.magnitude else { throw outOfRange }
            return Int64(truncatingIfNeeded: 0 &- number.mantissa)
        }
        let value = try double(of: number)
        guard value.magnitude <= Self.maximumExactInteger else { throw outOfRange }
        guard value == Double(Int64(value)) else { throw JSONError(.wrongType, at: number.range.lowerBound) }
        return Int64(value)
    }

    /// Reads an integer.
    package mutating func int() throws(JSONError) -> Int {
        let start = index
        guard let value = Int(exactly: try int64()) else { throw JSONError(.numberOutOfRange, at: start) }
        return value
    }

    /// Reads an integer, or `nil` for `null`.
    package mutating func optionalInt() throws(JSONError) -> Int? {
        try takeNull() ? nil : try int()
    }

    mutating func skipNumber() throws(JSONError) { _ = try scanNumber() }

    /// A mantissa up to 2^53 and a power of ten up to 10^22 are exact, so that one operation rounds correctly (Clinger,
    /// "How to read floating point numbers accurately", 1990). The standard library converts all others.
    private func double(of number: ScannedNumber) throws(JSONError) -> Double {
        let magnitude: Double
        if !number.isLong, number.mantissa <= UInt64(Self.maximumExactInteger), number.exponent.magnitude <= 22 {
            let mantissa = Double(number.mantissa)
            if number.exponent == 0 {
                magnitude = mantissa
            } else {
                let power = powersOfTen[Int(number.exponent.magnitude)]
                magnitude = number.exponent < 0 ? mantissa / power : mantissa * power
            }
            return number.isNegative ? -magnitude : magnitude
        }
        guard let value = Double(String(decoding: bytes[number.range], as: UTF8.self)), value.isFinite else {
            throw JSONError(.numberOutOfRange, at: number.range.lowerBound)
        }
        return value
    }

    /// Scans and checks a number.
    private mutating func scanNumber() throws(JSONError) -> ScannedNumber {
        skipWhitespace()
        let start = index
        var position = start
        var number = ScannedNumber(
            range: start..<start, mantissa: 0, exponent: 0, isNegative: false, isInteger: true, isLong: false)
        guard position < end else { throw JSONError(.unexpectedEnd, at: end) }
        if bytes[position] == UInt8(ascii: "-") {
            number.isNegative = true
            position += 1
        } else if digit(at: position) == nil {
            throw try mismatch()
        }
        guard let first = digit(at: position) else { throw JSONError(.invalidNumber, at: start) }
        position += 1
        number.mantissa = UInt64(first)
        if first == 0 {
            if digit(at: position) != nil { throw JSONError(.invalidNumber, at: start) }
        } else {
            while let digit = digit(at: position) {
                number.append(digit)
                position += 1
            }
        }
        if position < end, bytes[position] == UInt8(ascii: ".") {
            number.isInteger = false
            position += 1
            let fraction = position
            while let digit = digit(at: position) {
                number.append(digit)
                position += 1
            }
            if position == fraction { throw JSONError(.invalidNumber, at: start) }
            number.exponent -= position - fraction
        }
        if position < end, bytes[position] | 0x20 == UInt8(ascii: "e") {
            number.isInteger = false
            position += 1
            var isNegative = false
            if position < end, bytes[position] == UInt8(ascii: "-") || bytes[position] == UInt8(ascii: "+") {
                isNegative = bytes[position] == UInt8(ascii: "-")
                position += 1
            }
            let digits = position
            var exponent = 0
            while let digit = digit(at: position) {
                // Beyond this, every number is zero or infinite; the standard library decides which.
                if exponent < 100_000 { exponent = exponent * 10 + Int(digit) }
                position += 1
            }
            if position == digits { throw JSONError(.invalidNumber, at: start) }
            number.exponent += isNegative ? -exponent : exponent
        }
        index = position
        number.range = start..<position
        return number
    }

    @inline(__always)
    private func digit(at position: Int) -> UInt8? {
        guard position < end else { return nil }
        let digit = bytes[position] &- UInt8(ascii: "0")
        return digit <= 9 ? digit : nil
    }
}

extension ScannedNumber {
    /// The mantissa has room for any 19 digits, which are less than 2^64.
    @inline(__always)
    fileprivate mutating func append(_ digit: UInt8) {
        if mantissa < 1_000_000_000_000_000_000 {
            mantissa = mantissa &* 10 &+ UInt64(digit)
        } else {
            isLong = true
        }
    }
}

/// 10^0 to 10^22, all exact.
private let powersOfTen: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
]
