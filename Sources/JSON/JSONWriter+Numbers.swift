/// Appends an integer in decimal digits.
func appendInteger(_ value: Int64, to bytes: inout [UInt8]) {
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    appendDigits(value.magnitude, atLeast: 1, to: &bytes)
}

/// Appends a number with the fewest digits that read back as the same number; `null` if it is not finite.
func appendNumber(_ value: Double, to bytes: inout [UInt8]) {
    guard value.isFinite else {
        bytes += "null".utf8
        return
    }
    if value.sign == .minus { bytes.append(UInt8(ascii: "-")) }
    let magnitude = value.magnitude
    // Conversions instead of `rounded()`, which would need the C math library.
    if magnitude <= JSONReader.maximumExactInteger, Double(UInt64(magnitude)) == magnitude {
        appendDigits(UInt64(magnitude), atLeast: 1, to: &bytes)
        return
    }
    let limit = 1e15  // any two numbers of 15 digits are different as a Double
    // Most measured values have few decimals. The quotient of two exact numbers is rounded as a reader rounds the text.
    var scale = 1.0
    for decimals in 1...3 {
        scale *= 10
        guard magnitude * scale < limit else { break }
        let scaled = UInt64(magnitude * scale + 0.5)
        guard Double(scaled) / scale == magnitude else { continue }
        let (quotient, remainder) = scaled.quotientAndRemainder(dividingBy: UInt64(scale))
        appendDigits(quotient, atLeast: 1, to: &bytes)
        bytes.append(UInt8(ascii: "."))
        appendDigits(remainder, atLeast: decimals, to: &bytes)
        return
    }
    bytes += magnitude.description.utf8
}

/// Appends decimal digits, padded with leading zeros to `count`.
private func appendDigits(_ value: UInt64, atLeast count: Int, to bytes: inout [UInt8]) {
    var digits = InlineArray<20, UInt8>(repeating: UInt8(ascii: "0"))
    var rest = value
    var first = digits.count
    while rest > 0 {
        first -= 1
        digits[first] = UInt8(truncatingIfNeeded: rest % 10) &+ UInt8(ascii: "0")
        rest /= 10
    }
    for position in min(first, digits.count - count)..<digits.count { bytes.append(digits[position]) }
}
