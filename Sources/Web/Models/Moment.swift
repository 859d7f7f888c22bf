import Vitals

/// A moment, for a `<time>` element.
struct Moment: Hashable, Sendable {
    /// RFC 3339 in UTC, for programs.
    let iso: String
    /// The local time for a person: `07:31`, of another day with its date.
    let text: String
    /// How long ago it was when the page was made, which the script brings up to date.
    let age: String

    /// - Parameters:
    ///   - moment: what is shown.
    ///   - now: when it is shown.
    ///   - calendar: in the gateway's zone.
    ///   - hasAge: whether the age is written. Without it the time stands there until the script replaces it.
    init(_ moment: Timestamp, now: Timestamp, in calendar: LocalCalendar, hasAge: Bool = true) {
        iso = moment.description
        let day = calendar.day(of: moment)
        let today = calendar.day(of: now)
        let time = TimeText.clock(calendar.minuteOfDay(moment))
        text = day == today ? time : "\(TimeText.date(day, in: today)), \(time)"
        age = hasAge ? TimeText.age(now - moment) : text
    }
}

/// Times as a person writes them.
enum TimeText {
    /// `07:05`, for minutes from midnight, 0 to 1440.
    static func clock(_ minutes: Int) -> String { "\(twoDigits(minutes / 60)):\(twoDigits(minutes % 60))" }

    /// `Sat 28 Nov`, with the year if `today` is in another one.
    static func date(_ day: LocalDay, in today: LocalDay) -> String {
        let (year, month, number) = parts(of: day)
        let text = "\(weekday(day)) \(number) \(months[month - 1])"
        return year == parts(of: today).year ? text : "\(text) \(year)"
    }

    /// `just now`, `12 min ago`, `3 h ago`, `1 day ago`, `2 days ago`; what lies in the future is just now, since clocks differ.
    /// `live.js` has the same rule.
    static func age(_ duration: Duration) -> String {
        let minutes = duration.inMilliseconds / 60_000
        return switch minutes {
        case ..<1: "just now"
        case ..<60: "\(minutes) min ago"
        case ..<1440: "\(minutes / 60) h ago"
        case ..<2880: "1 day ago"
        default: "\(minutes / 1440) days ago"
        }
    }

    /// `7 h 42 min`, `42 min`, `2 h`; minutes below 0 are none.
    static func span(minutes: Int) -> String {
        let minutes = max(0, minutes)
        let (hours, rest) = (minutes / 60, minutes % 60)
        if hours == 0 { return "\(rest) min" }
        return rest == 0 ? "\(hours) h" : "\(hours) h \(rest) min"
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    /// From the weekday of 1970-01-01 on.
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    private static func weekday(_ day: LocalDay) -> String { weekdays[((day.number % 7) + 7) % 7] }

    /// Year, month and day by the text `YYYY-MM-DD`, which every day has.
    private static func parts(of day: LocalDay) -> (year: Int, month: Int, day: Int) {
        let numbers = day.description.split(separator: "-").map { Int($0) ?? 1 }
        return (numbers[0], numbers[1], numbers[2])
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
