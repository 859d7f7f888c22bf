/// A date of the proleptic Gregorian calendar, without a time zone.
public struct LocalDay: Sendable, Hashable, Comparable {
    /// Days since 1970-01-01; negative before.
    public var number: Int

    /// The date this many days after 1970-01-01.
    public init(number: Int) { self.number = number }

    /// Orders by date, ascending.
    public static func < (a: LocalDay, b: LocalDay) -> Bool { a.number < b.number }

    /// The date `days` later.
    public func advanced(by days: Int) -> LocalDay { LocalDay(number: number + days) }
}

extension LocalDay: CustomStringConvertible {
    /// The first date with a text, 0000-01-01.
    public static let earliest = LocalDay(number: -719_528)
    /// The last date with a text, 9999-12-31.
    public static let latest = LocalDay(number: 2_932_896)

    /// The date with this year (0–9999), month and day; `nil` if it does not exist.
    public init?(year: Int, month: Int, day: Int) {
        guard let date = CivilDate(year: year, month: month, day: day) else { return nil }
        self.init(number: date.dayNumber)
    }

    /// The date of a text `YYYY-MM-DD`; `nil` for any other text and for a date that does not exist.
    public init?(_ text: String) {
        var cursor = TextCursor(text)
        guard let year = cursor.number(digits: 4), cursor.consume("-"), let month = cursor.number(digits: 2),
            cursor.consume("-"), let day = cursor.number(digits: 2), cursor.isAtEnd
        else { return nil }
        self.init(year: year, month: month, day: day)
    }

    /// The date as `YYYY-MM-DD`. A date before the year 0000 or after 9999 is written as `earliest` or `latest`.
    public var description: String { String(textCount: CivilDate.textLength) { civil.write(to: $0) } }

    /// Appends the text of `description`.
    public func append(to bytes: inout [UInt8]) {
        bytes.appendText(count: CivilDate.textLength) { civil.write(to: $0) }
    }

    private var civil: CivilDate { CivilDate(dayNumber: min(max(self, .earliest), .latest).number) }
}
