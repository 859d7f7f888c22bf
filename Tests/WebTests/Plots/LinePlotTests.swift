import Testing
import Vitals

@testable import Web

/// A metric over time.
@Suite struct LinePlotTests {
    private let hour: Int64 = 3_600_000

    private func plot(_ values: PlotBuckets, limits: [PlotLimit] = [], now: Int64? = nil) -> LinePlot {
        LinePlot(
            "Heart rate", unit: "bpm", values: values, bounds: 20...300, limits: limits, now: now ?? values.axis.to)
    }

    @Test func `no line and no band crosses a gap, and the gap is shaded`() throws {
        let axis = try ShownPlots.axis(.week)
        let gap = axis.from + 30 * hour..<axis.from + 50 * hour
        let svg = plot(ShownPlots.values(axis, skipping: [gap])).svg(.wide)
        #expect(ShownPlots.path(.line, in: svg).count(of: "M") == 2)
        #expect(ShownPlots.path(.band, in: svg).count(of: "M") == 2)
        #expect(ShownPlots.path(.gap, in: svg).count(of: "M") == 1)
        let whole = plot(ShownPlots.values(axis)).svg(.wide)
        #expect(ShownPlots.path(.line, in: whole).count(of: "M") == 1)
        #expect(ShownPlots.path(.gap, in: whole) == "")
    }

    @Test func `a value alone is a dot, and one value is a plot`() throws {
        let axis = try ShownPlots.axis(.day)
        var values = PlotBuckets(axis)
        values.add(60, at: axis.from + 12 * hour)
        let svg = plot(values).svg(.narrow)
        #expect(ShownPlots.path(.line, in: svg) == "")
        #expect(ShownPlots.path(.dots, in: svg).hasSuffix("h0"))
        #expect(ShownPlots.texts(.value, in: svg) == [])
        #expect(ShownPlots.description(of: svg).contains("of 1 value."))
    }

    @Test func `corrections are marks on the time axis, and neighbours share one`() throws {
        let axis = try ShownPlots.axis(.day)
        var values = PlotBuckets(axis)
        for minute in Int64(0)..<1440 {
            values.add(60, at: axis.from + minute * 60_000, isCorrected: (60..<90).contains(minute) || minute == 700)
        }
        let svg = plot(values).svg(.wide)
        #expect(ShownPlots.path(.correction, in: svg).count(of: "M") == 2)
        #expect(ShownPlots.description(of: svg).contains("31 values were corrected."))
    }

    @Test func `a limit near the values is a line, and one far away an arrow`() throws {
        let axis = try ShownPlots.axis(.day)
        var values = PlotBuckets(axis)
        for (index, value) in [50.0, 60, 80].enumerated() { values.add(value, at: axis.from + Int64(index) * hour) }
        let limits = [
            PlotLimit(100, name: "high"), PlotLimit(180, name: "high in exercise"), PlotLimit(5, name: "low"),
        ]
        let svg = plot(values, limits: limits).svg(.wide)
        #expect(ShownPlots.path(.limit, in: svg).count(of: "M") == 1)
        #expect(ShownPlots.texts(.limitLabel, in: svg) == ["↑ 180 high in exercise", "100 high", "↓ 5 low"])
        #expect(
            ShownPlots.texts(.limitLabel, in: plot(values, limits: limits).svg(.narrow)) == ["↑ 180", "100", "↓ 5"])
    }

    @Test func `the limits are those that raise alerts and that a value can pass`() throws {
        let on = try MonitorConfiguration(
            of: .heartRate,
            limits: [
                .resting: AlertLimits(isEnabled: true, lower: 40, upper: 100),
                .exercise: AlertLimits(isEnabled: true, lower: 60, upper: 180),
            ])
        #expect(
            PlotLimit.limits(of: .heartRate, on).map { "\($0.name) \($0.value)" }
                == ["high at rest 100.0", "low at rest 40.0", "high in exercise 180.0"])
        #expect(PlotLimit.limits(of: .restingHeartRate, on).map(\.name) == ["high", "low"])
        #expect(PlotLimit.limits(of: .weight, on).isEmpty)
        let oxygen = try MonitorConfiguration(
            of: .bloodOxygen, limits: [.value: AlertLimits(isEnabled: true, lower: 95, upper: 100)])
        #expect(PlotLimit.limits(of: .bloodOxygen, oxygen).map(\.value) == [95])
        let off = try MonitorConfiguration(
            of: .bloodOxygen, limits: [.value: AlertLimits(isEnabled: false, lower: 95, upper: 100)])
        #expect(PlotLimit.limits(of: .bloodOxygen, off).isEmpty)
    }

    @Test func `the description has extremes, mean, newest value, gaps and limits in words`() throws {
        let axis = try ShownPlots.axis(.day)
        var values = PlotBuckets(axis)
        for (minutes, value) in [(0, 60.0), (60, 48), (300, 141), (360, 70)] {
            values.add(value, at: axis.from + Int64(minutes) * 60_000)
        }
        let svg = plot(values, limits: [PlotLimit(100, name: "high")], now: axis.from + 7 * hour).svg(.wide)
        #expect(svg.contains("<title>Heart rate, 28 November 2026</title>"))
        #expect(
            ShownPlots.description(of: svg)
                == "Lowest 48 bpm (01:00). Highest 141 bpm (05:00). Mean 79.8 bpm of 4 values. Newest 70 bpm (06:00). "
                + "No values from 01:00 to 05:00 (4 h). Limit high: 100 bpm.")
    }

    @Test func `a script finds each point with its time, its mean and its extremes`() throws {
        let axis = try ShownPlots.axis(.day, "2026-10-25")
        var values = PlotBuckets(axis)
        for (minutes, value) in [(0, 60.0), (7, 48), (8, 61), (1430, 70)] {
            values.add(value, at: axis.from + Int64(minutes) * 60_000)
        }
        let svg = plot(values).svg(.wide)
        #expect(ShownPlots.attributes("data-points", in: svg) == ["0,60 7,54.5,48,61 1430,70"])
        #expect(ShownPlots.attributes("data-from", in: svg) == ["\(axis.from / 1000)"])
        #expect(ShownPlots.attributes("data-to", in: svg) == ["\(axis.from / 1000 + 25 * 3600)"])
        #expect(ShownPlots.attributes("data-offsets", in: svg) == ["7200,0 3600,180"])
        #expect(ShownPlots.attributes("data-period", in: svg) == ["day"])
        #expect(ShownPlots.attributes("data-unit", in: svg) == ["bpm"])
        #expect(ShownPlots.attributes("data-bridge", in: svg) == ["75"])
        #expect(ShownPlots.attributes("data-area", in: svg)[0].split(separator: " ").count == 4)
    }

    @Test func `a plot without values says so, and shows no point`() throws {
        for layout in PlotLayout.allCases {
            let svg = plot(PlotBuckets(try ShownPlots.axis(.month))).svg(layout)
            #expect(ShownPlots.description(of: svg) == "No values.")
            #expect(ShownPlots.texts(.note, in: svg) == ["bpm", "No values"])
            #expect(ShownPlots.attributes("data-points", in: svg) == [""])
        }
    }

    @Test(arguments: [(36.6, 36.6, 1), (0, 0, 0), (98, 100, 0), (-5, 1e9, 0), (60, 61, 0), (0.001, 0.002, 3)])
    func `an axis has at least one mark and few of them, with room for its values`(
        low: Double, high: Double, decimals: Int
    ) {
        for count in [3, 4, 5] {
            let axis = ValueAxis(values: low...high, near: [], bounds: nil, decimals: decimals, count: count)
            #expect(axis.low <= low && high <= axis.high && axis.low < axis.high)
            #expect((1...2 * count).contains(axis.ticks.count))
            #expect(axis.ticks.allSatisfy { axis.low <= $0 + 1e-6 && $0 - 1e-6 <= axis.high })
            #expect(Set(axis.labels).count == axis.labels.count)
        }
    }

    @Test func `an axis does not show what no value can be`() {
        let axis = ValueAxis(values: 92...99, near: [95], bounds: 0...100, decimals: 0, count: 5)
        #expect(axis.high <= 100)
        #expect(ValueAxis(values: 100...100, near: [], bounds: 0...100, decimals: 0, count: 5).high == 100)
        #expect(ValueAxis(values: 0...0, near: [], bounds: 0...100, decimals: 0, count: 5).low == 0)
        // A value that is there is shown all the same.
        #expect(ValueAxis(values: 90...120, near: [], bounds: 0...100, decimals: 0, count: 5).high >= 120)
    }
}
