/// How long a plot looks back. Steps, marks and what counts as a gap follow from it.
package enum PlotPeriod: String, CaseIterable, Sendable {
    case day, week, month, year

    private static let minute: Int64 = 60_000
    private static let hour: Int64 = 3_600_000
    private static let oneDay = PlotCalendar.millisecondsPerDay

    /// The longest time that an axis of this period spans, in milliseconds: a day of 25 hours, and one at the end that
    /// has only begun. What is later is not drawn.
    package var maximumDuration: Int64 {
        switch self {
        case .day: 26 * Self.hour
        case .week: 8 * Self.oneDay
        case .month: 32 * Self.oneDay
        case .year: 367 * Self.oneDay
        }
    }

    /// How much time the mean and the extremes of one point of a line cover, in milliseconds; a year has local days.
    var lineStep: Int64 {
        switch self {
        case .day: 5 * Self.minute
        case .week: 30 * Self.minute
        case .month: 2 * Self.hour
        case .year: Self.oneDay
        }
    }

    /// The same of a range, which is drawn wider than a point.
    var rangeStep: Int64 {
        switch self {
        case .day: 15 * Self.minute
        case .week: 2 * Self.hour
        case .month: 8 * Self.hour
        case .year: 4 * Self.oneDay
        }
    }

    /// The longest time between two values that a line crosses, in milliseconds; a longer one is a gap. A day bridges what a
    /// schedule of once an hour leaves open, a month what one value a day does; a week and a year have about the same width
    /// for it.
    package var longestBridge: Int64 {
        switch self {
        case .day: 75 * Self.minute
        case .week: 6 * Self.hour
        case .month: 36 * Self.hour
        case .year: 5 * Self.oneDay
        }
    }

    /// The same of what stays true until it is measured again, such as a weight.
    package var longestLastingBridge: Int64 {
        switch self {
        case .day: 12 * Self.hour
        case .week: 3 * Self.oneDay
        case .month: 8 * Self.oneDay
        case .year: 32 * Self.oneDay
        }
    }
}

/// The horizontal axis: a period of local time.
package struct TimeAxis: Sendable {
    package let period: PlotPeriod
    /// The first moment, in milliseconds since 1970 UTC.
    package let from: Int64
    /// The moment after the last one.
    package let to: Int64
    package let calendar: PlotCalendar

    /// An axis from one moment to another, in milliseconds since 1970 UTC, at most as long as its period may be.
    package init(_ period: PlotPeriod, from: Int64, to: Int64, calendar: PlotCalendar) {
        // The years 0 to 9999.
        let first = min(max(from, -62_167_219_200_000), 253_402_300_799_999)
        self.period = period
        self.from = first
        self.to = min(max(to, first + 60_000), first + period.maximumDuration)
        self.calendar = calendar
    }

    /// The local dates that the axis touches.
    var days: ClosedRange<Int> {
        let first = calendar.local(from).day
        return first...max(first, calendar.local(to - 1).day)
    }

    /// The moments at which steps of this length begin, and the axis' end. Steps of whole days follow local midnights.
    func steps(of length: Int64) -> [Int64] {
        var moments = [from]
        if length % PlotCalendar.millisecondsPerDay == 0 {
            let step = Int(length / PlotCalendar.millisecondsPerDay)
            for day in stride(from: days.lowerBound + step, through: days.upperBound, by: step) {
                let moment = calendar.moment(day: day)
                if moment > moments[moments.count - 1], moment < to { moments.append(moment) }
            }
        } else {
            moments += stride(from: from + length, to: to, by: Int64.Stride(length))
        }
        return moments + [to]
    }

    /// The spans of bars: hours of a day, days of a week or a month, months of a year.
    package var barSpans: [Range<Int64>] {
        let edges: [Int64]
        switch period {
        case .day: edges = steps(of: 3_600_000)
        case .week, .month: edges = steps(of: PlotCalendar.millisecondsPerDay)
        case .year:
            let starts = calendar.months.map { calendar.moment(day: $0.firstDay) }
            edges = [from] + starts.filter { $0 > from && $0 < to } + [to]
        }
        return zip(edges, edges.dropFirst()).map { $0..<$1 }
    }

    /// A mark of the axis.
    struct Tick {
        var moment: Int64
        /// The text below it, if it has one.
        var label: String?
        /// Where the text stands: below the mark, or in the middle of what begins at it.
        var labelMoment: Int64
        /// Whether a line goes up from it.
        var hasLine = true
    }

    /// The marks, with labels as far as the layout has room for them.
    func ticks(_ layout: PlotLayout) -> [Tick] {
        switch period {
        case .day where to - from <= 14 * 3_600_000: hours(every: layout.isWide ? 1 : 2)
        case .day: hours(every: layout.isWide ? 3 : 6)
        case .week:
            eachDay { day in
                layout.isWide ? "\(calendar.weekday(day)) \(calendar.dayOfMonth(day))" : calendar.weekday(day)
            }
        case .month: monthDays(isWide: layout.isWide)
        case .year: eachMonth(letters: layout.isWide ? 3 : 1)
        }
    }

    /// A time within the period in words, as exactly as the period shows it.
    func words(_ moment: Int64) -> String {
        let day = calendar.local(moment).day
        switch period {
        case .day: return calendar.clock(moment)
        case .week: return "\(calendar.longWeekday(day)) \(calendar.clock(moment))"
        case .month: return "\(calendar.date(day)), \(calendar.clock(moment))"
        case .year: return calendar.date(day)
        }
    }

    /// A span of a bar in words.
    func words(_ span: Range<Int64>) -> String {
        let day = calendar.local(span.lowerBound).day
        switch period {
        case .day: return "\(calendar.clock(span.lowerBound)) to \(calendar.clock(span.upperBound))"
        case .week: return calendar.longWeekday(day)
        case .month: return calendar.date(day)
        case .year: return calendar.month(of: day).map(calendar.monthName) ?? ""
        }
    }

    /// The period in words: `28 November 2026`, `23 to 29 November 2026`, `November 2026`, `2026`.
    package var words: String {
        let (first, last) = (days.lowerBound, days.upperBound)
        let end = calendar.date(last, withYear: true)
        guard first < last, let month = calendar.month(of: first), let lastMonth = calendar.month(of: last) else {
            return end
        }
        let isOneMonth = month.firstDay == lastMonth.firstDay
        if period == .month, isOneMonth { return "\(calendar.monthName(month)) \(month.year)" }
        guard month.year == lastMonth.year else { return "\(calendar.date(first, withYear: true)) to \(end)" }
        if period == .year { return "\(month.year)" }
        return isOneMonth ? "\(calendar.dayOfMonth(first)) to \(end)" : "\(calendar.date(first)) to \(end)"
    }

    private func hours(every hours: Int) -> [Tick] {
        var ticks: [Tick] = []
        for day in days {
            for hour in stride(from: 0, to: 24, by: hours) {
                let moment = calendar.moment(day: day, minute: hour * 60)
                guard (from..<to).contains(moment) else { continue }
                ticks.append(Tick(moment: moment, label: calendar.clock(moment), labelMoment: moment))
            }
        }
        return ticks
    }

    private func eachDay(_ label: (Int) -> String?) -> [Tick] {
        days.compactMap { day in
            let (start, end) = (max(calendar.moment(day: day), from), min(calendar.moment(day: day + 1), to))
            guard start < end else { return nil }
            return Tick(moment: start, label: label(day), labelMoment: start + (end - start) / 2)
        }
    }

    private func monthDays(isWide: Bool) -> [Tick] {
        eachDay { day in
            let number = calendar.dayOfMonth(day)
            if isWide { return number % 2 == 1 && number < 31 ? "\(number)" : nil }
            return number % 7 == 1 ? "\(number)" : nil
        }.map { tick in
            var tick = tick
            tick.hasLine = calendar.dayOfMonth(calendar.local(tick.moment).day) % 7 == 1
            return tick
        }
    }

    private func eachMonth(letters: Int) -> [Tick] {
        calendar.months.indices.compactMap { index in
            let month = calendar.months[index]
            let next =
                index + 1 < calendar.months.count ? calendar.moment(day: calendar.months[index + 1].firstDay) : to
            let (start, end) = (max(calendar.moment(day: month.firstDay), from), min(next, to))
            guard start < end else { return nil }
            // A month of which only some days are shown has no room for its name.
            let isShort = end - start < 10 * PlotCalendar.millisecondsPerDay
            return Tick(
                moment: start, label: isShort ? nil : String(calendar.monthName(month).prefix(letters)),
                labelMoment: start + (end - start) / 2)
        }
    }
}
