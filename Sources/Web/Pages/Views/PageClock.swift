import Vitals

/// The time of a page: what its moments, ages and ranges count from.
struct PageClock: Sendable {
    let now: Timestamp
    let calendar: LocalCalendar
    /// Whether ages are written. A part that is sent later has none, since it changes only with what it shows.
    var hasAges = true

    var today: LocalDay { calendar.day(of: now) }

    /// The day of a sample.
    func day(of sample: Sample) -> LocalDay { DailySummary.day(of: sample, in: calendar) }

    /// A moment as a page shows it.
    func moment(_ moment: Timestamp) -> Moment { Moment(moment, now: now, in: calendar, hasAge: hasAges) }

    /// The same without its day, where that is known.
    func time(_ moment: Timestamp) -> Moment { Moment(moment, now: moment, in: calendar, hasAge: false) }

    /// `Sat 28 Nov`
    func text(of day: LocalDay) -> String { TimeText.date(day, in: today) }
}

/// The days that a section of a device shows: a day, week, month or year, as the address says it.
struct ShownRange: Sendable {
    let period: PlotPeriod
    let axis: TimeAxis
    private let clock: PageClock

    /// The range of `range` and `end`; by default the one with today.
    init(_ query: FormFields, default period: PlotPeriod, _ clock: PageClock) {
        self.clock = clock
        self.period = query["range"].flatMap { PlotPeriod(rawValue: $0) } ?? period
        let end = query["end"].flatMap { LocalDay($0) } ?? clock.today
        axis = TimeAxis(self.period, containing: min(end, clock.today), in: clock.calendar)
    }

    /// The time of an axis.
    init(axis: TimeAxis, _ clock: PageClock) { (self.axis, period, self.clock) = (axis, axis.period, clock) }

    /// The moments.
    var moments: Range<Timestamp> { Timestamp(milliseconds: axis.from)..<Timestamp(milliseconds: axis.to) }

    /// The local days.
    var days: ClosedRange<LocalDay> {
        LocalDay(number: axis.days.lowerBound)...LocalDay(number: axis.days.upperBound)
    }

    /// The links to other ranges of a page.
    /// - Parameter further: a field that the links keep, such as `metric=steps`.
    func bar(_ path: String, keeping further: String? = nil) -> RangeBar {
        let rest = further.map { "&\($0)" } ?? ""
        func link(_ period: PlotPeriod, _ day: LocalDay) -> String {
            "\(path)?range=\(period.rawValue)&end=\(day)\(rest)"
        }
        let last = min(days.upperBound, clock.today)
        let names: [(PlotPeriod, String)] = [(.day, "Day"), (.week, "Week"), (.month, "Month"), (.year, "Year")]
        let isPresent = days.upperBound >= clock.today
        return RangeBar(
            ranges: names.map { Tab(name: $1, link: link($0, last), isCurrent: $0 == period, badge: nil) },
            label: axis.words, earlier: link(period, days.lowerBound.advanced(by: -1)),
            later: isPresent ? nil : link(period, days.upperBound.advanced(by: 1)))
    }
}
