/// A local time of day, in whole minutes from midnight. Its text is `HH:MM`.
public struct TimeOfDay: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Minutes from midnight, 0–1440; 1440 is midnight at the end of the day.
    public let minutes: Int

    /// The midnight at the end of a day.
    public static let endOfDay = 1440

    /// A time this many minutes after midnight; `nil` outside 0–1440.
    public init?(minutes: Int) {
        guard (0...Self.endOfDay).contains(minutes) else { return nil }
        self.minutes = minutes
    }

    /// The time of a text `HH:MM`, from `00:00` to `24:00`. `HH:MM:SS` is accepted, and its seconds are dropped; `nil`
    /// for any other text.
    ///
    /// With `asEnd`, `00:00` means `24:00`, which the time pickers of user interfaces do not have.
    public init?(_ text: String, asEnd: Bool = false) {
        var cursor = TextCursor(text)
        guard let hour = cursor.number(digits: 2), cursor.consume(":"), let minute = cursor.number(digits: 2),
            minute < 60
        else { return nil }
        var second = 0
        if cursor.consume(":") {
            guard let value = cursor.number(digits: 2), value < 60 else { return nil }
            second = value
        }
        guard cursor.isAtEnd else { return nil }
        // 24:00 is valid, 24:00:01 is not.
        let minutes = hour * 60 + minute
        guard minutes < Self.endOfDay || (minutes == Self.endOfDay && second == 0) else { return nil }
        self.minutes = asEnd && minutes == 0 ? Self.endOfDay : minutes
    }

    /// The text, `HH:MM`.
    public var description: String {
        String(textCount: 5) { text in
            text.writeDigits(minutes / 60, count: 2, at: 0)
            text[2] = UInt8(ascii: ":")
            text.writeDigits(minutes % 60, count: 2, at: 3)
        }
    }

    /// Orders by time, ascending.
    public static func < (a: TimeOfDay, b: TimeOfDay) -> Bool { a.minutes < b.minutes }
}
