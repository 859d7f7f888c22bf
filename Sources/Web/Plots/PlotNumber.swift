/// Numbers and times in words, as people read them, without the formatters of Foundation.
enum PlotNumber {
    /// More decimals say nothing about a person.
    static let maximumDecimals = 3
    /// What is further from zero is drawn and written as this: more than the metres of a year without rest.
    static let maximum = 1e9

    /// A value in whole units of its last decimal; 0 for what is no number.
    static func scaled(_ value: Double, decimals: Int) -> Int {
        guard !value.isNaN else { return 0 }
        var factor = 1.0
        for _ in 0..<min(max(decimals, 0), maximumDecimals) { factor *= 10 }
        return Int((min(max(value, -maximum), maximum) * factor).rounded())
    }

    /// A number with its decimals, and commas between thousands: `12,345.6`.
    static func text(_ value: Double, decimals: Int) -> String {
        let places = min(max(decimals, 0), maximumDecimals)
        return text(scaled(value, decimals: places), decimals: places, isGrouped: true)
    }

    /// The text of a scaled value.
    static func text(_ scaled: Int, decimals: Int, isGrouped: Bool) -> String {
        var digits: [UInt8] = []
        digits.append(number: Int(scaled.magnitude))
        while digits.count <= decimals { digits.insert(UInt8(ascii: "0"), at: 0) }
        var text: [UInt8] = scaled < 0 ? [UInt8(ascii: "-")] : []
        let whole = digits.count - decimals
        for (index, digit) in digits.enumerated() {
            if index == whole { text.append(UInt8(ascii: ".")) }
            if isGrouped, index > 0, index < whole, (whole - index) % 3 == 0 { text.append(UInt8(ascii: ",")) }
            text.append(digit)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// A short text for where little room is: `8,213`, `12.3k`, `1.2M`.
    static func short(_ value: Double, decimals: Int) -> String {
        switch value.magnitude {
        case 999_500...: text(value / 1e6, decimals: 1) + "M"
        case 9_999.5...: text(value / 1e3, decimals: 1) + "k"
        default: text(value, decimals: value.magnitude < 100 ? decimals : 0)
        }
    }

    /// A duration in whole minutes: `7 h 5 min`, `45 min`.
    static func minutes(_ minutes: Int) -> String {
        let (hours, rest) = max(minutes, 0).quotientAndRemainder(dividingBy: 60)
        if hours == 0 { return "\(rest) min" }
        return rest == 0 ? "\(text(Double(hours), decimals: 0)) h" : "\(text(Double(hours), decimals: 0)) h \(rest) min"
    }

    /// A duration in milliseconds, of which many are longer than a day: `3 days 4 h`, `1 h 10 min`.
    static func duration(_ milliseconds: Int64) -> String {
        let total = Int(max(milliseconds, 0) / 60_000)
        let days = total / 1440
        guard days > 0 else { return minutes(total) }
        let hours = total / 60 % 24
        return "\(days) day\(days == 1 ? "" : "s")" + (hours > 0 ? " \(hours) h" : "")
    }
}
