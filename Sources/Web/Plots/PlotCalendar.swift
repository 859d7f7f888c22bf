/// Local times and dates of a plot's period: the offsets from UTC and the months in it, so that drawing needs neither a data base
/// of time zones nor a formatter.
package struct PlotCalendar: Sendable {
    /// From when on local time is ahead of UTC by how much.
    package struct Offset: Sendable {
        /// Milliseconds since 1970 UTC.
        package var from: Int64
        /// Seconds ahead of UTC; negative in the west.
        package var seconds: Int

        package init(from: Int64, seconds: Int) {
            self.from = from
            self.seconds = seconds
        }
    }

    /// A month.
    package struct Month: Sendable {
        /// Its first day, in days since 1970-01-01.
        package var firstDay: Int
        package var year: Int
        /// 1–12.
        package var month: Int

        package init(firstDay: Int, year: Int, month: Int) {
            self.firstDay = firstDay
            self.year = year
            self.month = month
        }
    }

    /// Ascending; the first one also holds before it, the last one without end.
    package let offsets: [Offset]
    /// Ascending, all that the period touches.
    package let months: [Month]

    /// A calendar of these offsets and months, both ascending. Without an offset it is UTC.
    package init(offsets: [Offset], months: [Month]) {
        self.offsets = offsets.isEmpty ? [Offset(from: 0, seconds: 0)] : offsets
        self.months = months
    }

    static let millisecondsPerDay: Int64 = 86_400_000
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]  // 1970-01-01 was a Thursday
    private static let longWeekdays = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"]
    private static let longMonths = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]

    /// The local date, in days since 1970-01-01, and the minute of the day.
    func local(_ moment: Int64) -> (day: Int, minute: Int) {
        let offset = offsets.last { $0.from <= moment } ?? offsets[0]
        let local = moment + Int64(offset.seconds) * 1000
        let day = Int((Double(local) / Double(Self.millisecondsPerDay)).rounded(.down))
        return (day, Int((local - Int64(day) * Self.millisecondsPerDay) / 60_000))
    }

    /// The first moment at which local clocks show this minute of the date, or a later one if it is skipped.
    func moment(day: Int, minute: Int = 0) -> Int64 {
        let wanted = Int64(day) * Self.millisecondsPerDay + Int64(minute) * 60_000
        for (index, offset) in offsets.enumerated() {
            let candidate = wanted - Int64(offset.seconds) * 1000
            if index + 1 == offsets.count || candidate < offsets[index + 1].from {
                return index == 0 ? candidate : max(candidate, offset.from)
            }
        }
        return wanted
    }

    /// The month of a date; `nil` if the calendar does not have it.
    func month(of day: Int) -> Month? { months.last { $0.firstDay <= day } }

    /// `Mon`.
    func weekday(_ day: Int) -> String { Self.weekdays[((day % 7) + 7) % 7] }

    /// `Monday`.
    func longWeekday(_ day: Int) -> String { Self.longWeekdays[((day % 7) + 7) % 7] }

    /// `17:05`.
    func clock(_ moment: Int64) -> String {
        let minute = local(moment).minute
        func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(digits(minute / 60)):\(digits(minute % 60))"
    }

    /// The day of the month.
    func dayOfMonth(_ day: Int) -> Int { day - (month(of: day)?.firstDay ?? day) + 1 }

    /// `November`.
    func monthName(_ month: Month) -> String { Self.longMonths[min(max(month.month, 1), 12) - 1] }

    /// `3 November`, or with the year `3 November 2026`.
    func date(_ day: Int, withYear: Bool = false) -> String {
        guard let month = month(of: day) else { return "" }
        return "\(dayOfMonth(day)) \(monthName(month))" + (withYear ? " \(month.year)" : "")
    }
}
