import Testing
import Vitals

@testable import Web

/// Counters and blood pressures.
@Suite struct BarPlotTests {
    private let hour: Int64 = 3_600_000

    private func steps(_ axis: TimeAxis, now: Int64) -> BarPlot {
        BarPlot("Steps", unit: "steps", axis: axis, now: now)
    }

    @Test func `a count belongs to the bar in which it began, in any order`() throws {
        let axis = try ShownPlots.axis(.day, "2026-10-25")
        var plot = steps(axis, now: axis.to)
        for (hours, count) in [(24, 5.0), (0, 10), (3, 1), (2, 2), (3, 4)] {
            plot.add(count, at: axis.from + Int64(hours) * hour)
        }
        plot.add(99, at: axis.from - 1)
        plot.add(99, at: axis.to)
        plot.add(-1, at: axis.from)
        plot.add(.nan, at: axis.from)
        #expect(plot.totals.count == 25)
        #expect(plot.totals[0] == 10)
        #expect(plot.totals[2] == 2)
        #expect(plot.totals[3] == 5)
        #expect(plot.totals[24] == 5)
        #expect(plot.totals.compactMap { $0 }.count == 4)
    }

    @Test func `the bar of today is marked, and is in no mean`() throws {
        let axis = try ShownPlots.axis(.week)
        var plot = steps(axis, now: axis.from + 5 * 24 * hour + 12 * hour)
        for (day, count) in [6_000.0, 7_000, 8_000, 9_000, 10_000, 3_000].enumerated() {
            plot.add(count, at: axis.from + Int64(day) * 24 * hour)
        }
        let svg = plot.svg(.wide)
        #expect(ShownPlots.path(.bar, in: svg).count(of: "M") == 5)
        #expect(ShownPlots.path(.partialBar, in: svg).count(of: "M") == 1)
        #expect(ShownPlots.texts(.value, in: svg) == ["6,000", "7,000", "8,000", "9,000", "10.0k", "3,000"])
        #expect(
            ShownPlots.description(of: svg)
                == "In total 43,000 steps. Most 10,000 steps (Friday). Mean of 5 complete days 8,000 steps. "
                + "Until now 3,000 steps (Saturday).")
        let bars = ShownPlots.attributes("data-bars", in: svg)[0].split(separator: " ")
        #expect(bars.first == "0,1440,6000")
        #expect(bars.last == "7200,8640,3000,partial")
    }

    @Test func `a day without counts is no day of zero, and an hour without is nothing`() throws {
        let week = try ShownPlots.axis(.week)
        var plot = steps(week, now: week.to)
        plot.add(0, at: week.from)
        for day in Int64(2)..<7 { plot.add(5_000, at: week.from + day * 24 * hour) }
        let svg = plot.svg(.wide)
        #expect(ShownPlots.path(.gap, in: svg).count(of: "M") == 1)
        #expect(ShownPlots.path(.bar, in: svg).count(of: "M") == 6)
        #expect(ShownPlots.description(of: svg).hasSuffix("1 day without values."))
        #expect(ShownPlots.attributes("data-bars", in: svg)[0].contains(" 1440,2880, "))
        let day = try ShownPlots.axis(.day)
        var hours = steps(day, now: day.to)
        hours.add(100, at: day.from + 8 * hour)
        #expect(ShownPlots.path(.gap, in: hours.svg(.narrow)) == "")
        #expect(ShownPlots.path(.gap, in: steps(day, now: day.to).svg(.narrow)).count(of: "M") == 24)
    }

    @Test func `days of a counter and of sleep are bars`() throws {
        let (axis, calendar) = (try ShownPlots.axis(.week), try ShownPlots.calendar())
        let day = try ShownPlots.day("2026-11-24")
        var steps = BarPlot(.steps, name: "Steps", axis: axis, now: Timestamp(milliseconds: axis.to))
        steps.add(
            DailySummary(
                metric: .steps, day: day, count: 4, manualCount: 0, average: nil,
                details: .count(total: 8_213, distance: nil, energy: nil)), in: calendar)
        #expect(steps.totals[1] == 8_213)
        var sleep = BarPlot(.sleep, name: "Sleep", axis: axis, now: Timestamp(milliseconds: axis.to))
        sleep.add(
            DailySummary(
                metric: .sleep, day: day, count: 1, manualCount: 0, average: nil,
                details: .sleep(.init(asleep: 435))), in: calendar)
        #expect(sleep.totals[1] == 7.25)
        #expect(ShownPlots.texts(.value, in: sleep.svg(.wide)) == ["7.3"])
    }

    @Test func `a past day without a sleep is a gap, and counts for no mean`() throws {
        let (axis, calendar) = (try ShownPlots.axis(.week), try ShownPlots.calendar())
        var sleep = BarPlot(.sleep, name: "Sleep", axis: axis, now: Timestamp(milliseconds: axis.to))
        for (text, count, minutes) in [("2026-11-24", 1, 420), ("2026-11-25", 0, 0), ("2026-11-26", 1, 480)] {
            sleep.add(
                DailySummary(
                    metric: .sleep, day: try ShownPlots.day(text), count: count, manualCount: 0, average: nil,
                    details: .sleep(.init(asleep: minutes))), in: calendar)
        }
        #expect(sleep.totals[1...3] == [7, nil, 8])
        #expect(ShownPlots.description(of: sleep.svg(.wide)).contains("Mean of 2 complete days 7.5"))
    }

    @Test func `a blood pressure is a range, and several in a step are means and extremes`() throws {
        let axis = try ShownPlots.axis(.day)
        var plot = RangePlot("Blood pressure", unit: "mmHg", axis: axis, now: axis.to)
        plot.add(systolic: 128, diastolic: 82, at: axis.from + 8 * hour)
        plot.add(systolic: 120, diastolic: 80, at: axis.from + 9 * hour, isCorrected: true)
        plot.add(systolic: 130, diastolic: 70, at: axis.from + 9 * hour + 60_000)
        plot.add(systolic: .nan, diastolic: 70, at: axis.from)
        let svg = plot.svg(.wide)
        #expect(ShownPlots.path(.range, in: svg).count(of: "M") == 2)
        #expect(ShownPlots.path(.whisker, in: svg).count(of: "M") == 1)
        #expect(ShownPlots.path(.correction, in: svg).count(of: "M") == 1)
        #expect(ShownPlots.attributes("data-ranges", in: svg) == ["480,128,82 540,125,75,130,70"])
        #expect(ShownPlots.texts(.value, in: svg) == ["130/70"])
        #expect(
            ShownPlots.description(of: svg)
                == "Newest 130/70 mmHg (09:01). Highest systolic 130 mmHg (09:01). Lowest diastolic 70 mmHg (09:01). "
                + "Mean 126/77 mmHg of 3 measurements. 1 corrected.")
    }
}
