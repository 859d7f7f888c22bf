extension Timestamp: CustomStringConvertible {
    /// The first moment with a text: 0000-01-01T00:00:00.000Z.
    public static let earliest = Timestamp(milliseconds: -62_167_219_200_000)
    /// The last moment with a text: 9999-12-31T23:59:59.999Z.
    public static let latest = Timestamp(milliseconds: 253_402_300_799_999)

    static let millisecondsPerDay: Int64 = 86_400_000

    private static let textLength = 24

    /// The moment in RFC 3339, in UTC with milliseconds: `2026-11-21T07:31:04.120Z`. A moment before the year 0000 or
    /// after 9999 is written as `earliest` or `latest`.
    public var description: String { String(textCount: Self.textLength, write) }

    /// Appends the text of `description`.
    public func append(to bytes: inout [UInt8]) { bytes.appendText(count: Self.textLength, write) }

    /// The moment of a text in RFC 3339, such as `2026-11-21T08:31:04.12+01:00`; `nil` if the text is not one, names a
    /// date or time that does not exist, or lies outside `earliest...latest` in UTC.
    ///
    /// Any offset is accepted, as are lower-case `t` and `z`. A fraction may have any length and is cut off after
    /// milliseconds. A leap second, `23:59:60` in UTC, becomes the last millisecond before midnight, since Unix time
    /// has no value for it.
    public init?(rfc3339 text: String) {
        var cursor = TextCursor(text)
        guard let year = cursor.number(digits: 4), cursor.consume("-"),
            let month = cursor.number(digits: 2), cursor.consume("-"),
            let day = cursor.number(digits: 2), cursor.consume("T") || cursor.consume("t"),
            let date = CivilDate(year: year, month: month, day: day),
            let hour = cursor.number(digits: 2), hour < 24, cursor.consume(":"),
            let minute = cursor.number(digits: 2), minute < 60, cursor.consume(":"),
            let second = cursor.number(digits: 2), second <= 60,
            let fraction = cursor.milliseconds(),
            let offset = cursor.offsetMinutes(), cursor.isAtEnd
        else { return nil }
        let minutes = (Int64(date.dayNumber) * 24 + Int64(hour)) * 60 + Int64(minute) - Int64(offset)
        if second == 60 {
            guard (minutes + 1).flooredQuotient(by: 1440).remainder == 0 else { return nil }
            self.init(milliseconds: (minutes + 1) * 60_000 - 1)
        } else {
            self.init(milliseconds: (minutes * 60 + Int64(second)) * 1000 + Int64(fraction))
        }
        guard (Self.earliest...Self.latest).contains(self) else { return nil }
    }

    private func write(to text: UnsafeMutableBufferPointer<UInt8>) {
        let moment = min(max(self, Self.earliest), Self.latest)
        let (dayNumber, time) = moment.milliseconds.flooredQuotient(by: Self.millisecondsPerDay)
        let millisecond = Int(time)
        CivilDate(dayNumber: Int(dayNumber)).write(to: text)
        text[10] = UInt8(ascii: "T")
        text.writeDigits(millisecond / 3_600_000, count: 2, at: 11)
        text[13] = UInt8(ascii: ":")
        text.writeDigits(millisecond / 60_000 % 60, count: 2, at: 14)
        text[16] = UInt8(ascii: ":")
        text.writeDigits(millisecond / 1000 % 60, count: 2, at: 17)
        text[19] = UInt8(ascii: ".")
        text.writeDigits(millisecond % 1000, count: 3, at: 20)
        text[23] = UInt8(ascii: "Z")
    }
}

extension CivilDate {
    /// Number of bytes of `YYYY-MM-DD`.
    static let textLength = 10

    /// Writes `YYYY-MM-DD` at the beginning of the text.
    func write(to text: UnsafeMutableBufferPointer<UInt8>) {
        text.writeDigits(year, count: 4, at: 0)
        text[4] = UInt8(ascii: "-")
        text.writeDigits(month, count: 2, at: 5)
        text[7] = UInt8(ascii: "-")
        text.writeDigits(day, count: 2, at: 8)
    }
}

extension TextCursor {
    /// Takes an optional fraction of a second as whole milliseconds; `nil` if no digit follows the point.
    fileprivate mutating func milliseconds() -> Int? {
        guard consume(".") else { return 0 }
        guard var result = digit() else { return nil }
        for _ in 0..<2 { result = result * 10 + (digit() ?? 0) }
        while digit() != nil {}
        return result
    }

    /// Takes `Z` or `±HH:MM` as minutes east of Greenwich.
    fileprivate mutating func offsetMinutes() -> Int? {
        if consume("Z") || consume("z") { return 0 }
        let isWest = consume("-")
        guard isWest || consume("+"), let hours = number(digits: 2), hours < 24, consume(":"),
            let minutes = number(digits: 2), minutes < 60
        else { return nil }
        return (isWest ? -1 : 1) * (hours * 60 + minutes)
    }
}
