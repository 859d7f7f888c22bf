import Vitals

/// Reads the times that apps write.
///
/// Health Auto Export writes in the format of the phone's language: `2024-02-06 14:30:00 -0800`,
/// `2024-02-06 2:30:00 PM -0800`, at times with a narrow no-break space (U+202F, Unicode's locale data since version 42) before AM
/// or PM, with a fraction of a second, or as a day only. RFC 3339 is read, too.
struct PhoneTime {
    private var rest: Substring.UTF8View
    /// The time of day in the zone of the text, once it is read.
    private var timeOfDay: (hour: Int, minute: Int, second: Int, millisecond: Int)?

    /// The moment of a text; `nil` if it is none. A day without a time is the beginning of that day in the calendar's zone.
    static func moment(_ text: String, calendar: LocalCalendar) -> Timestamp? {
        // Longer ones are no times; this bounds the work on hostile input.
        guard text.utf8.count <= 48 else { return nil }
        if let moment = Timestamp(rfc3339: text) { return moment }
        let plain = withPlainSpaces(text)
        if let day = LocalDay(plain) { return calendar.bounds(of: day).lowerBound }
        var time = PhoneTime(rest: plain[...].utf8)
        return time.moment()
    }

    /// The milliseconds since midnight at the time of a text, in its zone; `nil` if it is no time of a day.
    static func timeOfDay(_ text: String) -> Int? {
        guard text.utf8.count <= 48 else { return nil }
        let plain = withPlainSpaces(text)
        var time = PhoneTime(rest: plain[...].utf8)
        guard time.moment() != nil, let (hour, minute, second, millisecond) = time.timeOfDay else { return nil }
        return ((hour * 60 + minute) * 60 + second) * 1000 + millisecond
    }

    /// A text whose spaces are those of ASCII.
    private static func withPlainSpaces(_ text: String) -> String {
        var plain = ""
        for scalar in text.unicodeScalars {
            let isSpace = scalar == "\u{202F}" || scalar == "\u{00A0}" || scalar == "\u{2009}"
            plain.unicodeScalars.append(isSpace ? " " : scalar)
        }
        return plain
    }

    private mutating func moment() -> Timestamp? {
        guard let year = number(digits: 4...4), consume("-"), let month = number(digits: 1...2), consume("-"),
            let day = number(digits: 1...2), let date = LocalDay(year: year, month: month, day: day),
            consume(" ") || consume("T"), var hour = number(digits: 1...2), consume(":"),
            let minute = number(digits: 2...2),
            minute < 60
        else { return nil }
        var second = 0
        var millisecond = 0
        if consume(":") {
            guard let value = number(digits: 2...2), value < 60 else { return nil }
            second = value
            if consume(".") || consume(",") {
                guard let fraction = fraction() else { return nil }
                millisecond = fraction
            }
        }
        skipSpaces()
        if let isAfternoon = dayHalf() {
            guard (1...12).contains(hour) else { return nil }
            hour = hour % 12 + (isAfternoon ? 12 : 0)
            skipSpaces()
        }
        timeOfDay = (hour, minute, second, millisecond)
        guard hour < 24, let offset = offset(), rest.isEmpty else { return nil }
        let minutes = (Int64(date.number) * 24 + Int64(hour)) * 60 + Int64(minute) - Int64(offset)
        let moment = Timestamp(milliseconds: (minutes * 60 + Int64(second)) * 1000 + Int64(millisecond))
        return (Timestamp.earliest...Timestamp.latest).contains(moment) ? moment : nil
    }

    private mutating func number(digits: ClosedRange<Int>) -> Int? {
        var result = 0
        var count = 0
        while count < digits.upperBound, let digit = digit() {
            result = result * 10 + digit
            count += 1
        }
        return count >= digits.lowerBound ? result : nil
    }

    /// The milliseconds of a fraction; further digits are cut off.
    private mutating func fraction() -> Int? {
        guard let first = digit() else { return nil }
        var result = first
        for _ in 0..<2 { result = result * 10 + (digit() ?? 0) }
        while digit() != nil {}
        return result
    }

    private mutating func digit() -> Int? {
        guard let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        rest.removeFirst()
        return Int(byte - UInt8(ascii: "0"))
    }

    private mutating func consume(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func skipSpaces() { while consume(" ") {} }

    /// Whether AM, PM or one of their spellings such as `p. m.` says afternoon; `nil` if there is none.
    private mutating func dayHalf() -> Bool? {
        let before = rest
        let isAfternoon: Bool
        if consume("P") || consume("p") {
            isAfternoon = true
        } else if consume("A") || consume("a") {
            isAfternoon = false
        } else {
            return nil
        }
        while consume(".") || consume(" ") {}
        guard consume("M") || consume("m") else {
            rest = before
            return nil
        }
        _ = consume(".")
        return isAfternoon
    }

    /// Minutes east of Greenwich: `Z`, `+01:00`, `+0100`, `+01`, or those with `GMT` or `UTC` before them.
    private mutating func offset() -> Int? {
        if consume("Z") || consume("z") { return 0 }
        for name in ["GMT", "UTC"] where rest.starts(with: name.utf8) {
            rest.removeFirst(name.utf8.count)
            if rest.isEmpty { return 0 }
        }
        let isWest = consume("-")
        guard isWest || consume("+"), let hours = number(digits: 1...2), hours <= 18 else { return nil }
        var minutes = 0
        if !rest.isEmpty {
            _ = consume(":")
            guard let value = number(digits: 2...2), value < 60 else { return nil }
            minutes = value
        }
        return (isWest ? -1 : 1) * (hours * 60 + minutes)
    }
}
