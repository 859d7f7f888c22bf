import Testing
import Vitals

@testable import Web

/// Local times of plots: hours, days and months in any time zone.
@Suite struct TimeAxisTests {
    @Test(arguments: [("2026-03-29", 23), ("2026-11-28", 24), ("2026-10-25", 25)])
    func `a day has as many bars as hours, and marks at the times of its clock`(date: String, hours: Int) throws {
        let axis = try ShownPlots.axis(.day, date)
        #expect(axis.barSpans.count == hours)
        #expect(axis.to - axis.from == Int64(hours) * 3_600_000)
        let ticks = axis.ticks(.wide)
        #expect(ticks.compactMap(\.label) == ["00:00", "03:00", "06:00", "09:00", "12:00", "15:00", "18:00", "21:00"])
        #expect(axis.ticks(.narrow).compactMap(\.label) == ["00:00", "06:00", "12:00", "18:00"])
        #expect(ticks[1].moment - axis.from == Int64(hours - 21) * 3_600_000)
    }

    @Test func `a week begins on Monday, a month and a year on their first day`() throws {
        let week = try ShownPlots.axis(.week)
        #expect(week.words == "23 to 29 November 2026")
        #expect(week.ticks(.wide).compactMap(\.label).first == "Mon 23")
        #expect(week.barSpans.count == 7)
        let month = try ShownPlots.axis(.month)
        #expect(month.words == "November 2026")
        #expect(month.barSpans.count == 30)
        #expect(month.ticks(.narrow).compactMap(\.label) == ["1", "8", "15", "22", "29"])
        let year = try ShownPlots.axis(.year)
        #expect(year.words == "2026")
        #expect(year.barSpans.count == 12)
        #expect(year.ticks(.wide).compactMap(\.label).first == "Jan")
        #expect(year.ticks(.narrow).compactMap(\.label).joined() == "JFMAMJJASOND")
    }

    @Test func `the steps of a year are local days, with the days on which clocks change`() throws {
        let axis = try ShownPlots.axis(.year)
        let steps = axis.steps(of: PlotPeriod.year.lineStep)
        #expect(steps.count == 366)
        let lengths = Set(zip(steps, steps.dropFirst()).map { ($1 - $0) / 3_600_000 })
        #expect(lengths == [23, 24, 25])
    }

    @Test func `times are as exact as their period shows them`() throws {
        let moment = try ShownPlots.moment("2026-11-28T16:05:00Z").milliseconds
        #expect(try ShownPlots.axis(.day).words(moment) == "17:05")
        #expect(try ShownPlots.axis(.week).words(moment) == "Saturday 17:05")
        #expect(try ShownPlots.axis(.month).words(moment) == "28 November, 17:05")
        #expect(try ShownPlots.axis(.year).words(moment) == "28 November")
    }

    @Test(arguments: ["Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia", "UTC"])
    func `local times are those of the gateway's calendar`(zone: String) throws {
        let calendar = try ShownPlots.calendar(zone)
        var random = SplitMix64(seed: 11)
        for date in ["2011-06-01", "2026-06-01", "1996-02-29"] {
            let axis = TimeAxis(.year, containing: try ShownPlots.day(date), in: calendar)
            for _ in 0..<300 {
                let moment = Timestamp(milliseconds: Int64.random(in: axis.from..<axis.to, using: &random))
                let (day, minute) = axis.calendar.local(moment.milliseconds)
                #expect(LocalDay(number: day) == calendar.day(of: moment))
                #expect(minute == calendar.minuteOfDay(moment))
                let minutes = Int.random(in: 0..<1440, using: &random)
                let expected = calendar.moment(on: LocalDay(number: day), minute: minutes)
                #expect(axis.calendar.moment(day: day, minute: minutes) == expected.milliseconds)
            }
        }
    }

    @Test(arguments: PlotPeriod.allCases)
    func `an axis is no longer than its period, and has no more steps than a plot has points`(period: PlotPeriod) throws
    {
        let from = try ShownPlots.moment("2026-02-01T00:00:00Z")
        let axis = TimeAxis(period, from: from, to: .latest, in: try ShownPlots.calendar())
        #expect(axis.to - axis.from == period.maximumDuration)
        #expect(axis.steps(of: period.lineStep).count - 1 <= PlotBuckets.maximumCount)
        #expect(axis.steps(of: period.rangeStep).count - 1 <= RangePlot.maximumCount)
        #expect(axis.steps(of: period.rangeStep).count - 1 <= Sparkline.maximumCount)
    }

    @Test(arguments: PlotPeriod.allCases, [Int64.min, -62_167_219_200_000, 253_402_300_799_999, .max])
    func `an axis at the ends of time is one`(period: PlotPeriod, milliseconds: Int64) throws {
        let calendar = try ShownPlots.calendar()
        let moment = Timestamp(milliseconds: milliseconds)
        for axis in [
            TimeAxis(period, from: moment, to: .init(milliseconds: .max), in: calendar),
            TimeAxis(period, from: moment, to: moment, in: calendar),
            TimeAxis(period, containing: calendar.day(of: moment), in: calendar),
        ] {
            #expect(axis.from < axis.to)
            let plot = LinePlot("Heart rate", unit: "bpm", values: PlotBuckets(axis), now: milliseconds)
            #expect(plot.svg(.wide).hasSuffix("</svg>"))
        }
    }
}
