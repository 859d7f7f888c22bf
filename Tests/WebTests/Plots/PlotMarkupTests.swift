import Testing
import Vitals

@testable import Web

/// What holds for the markup of every plot.
@Suite struct PlotMarkupTests {
    /// A plot of each kind in each layout, with everything that it can have.
    private func plots(name: String = "Heart rate", unit: String = "bpm") throws -> [String] {
        let hour: Int64 = 3_600_000
        let axis = try ShownPlots.axis(.week)
        let now = axis.from + 100 * hour
        var values = ShownPlots.values(axis, until: now, skipping: [axis.from..<axis.from + 20 * hour])
        values.add(70, at: axis.from + 10 * hour, isCorrected: true)
        let line = LinePlot(name, unit: unit, values: values, limits: [PlotLimit(140, name: name)], now: now)
        var bars = BarPlot(name, unit: unit, axis: axis, now: now)
        for moment in stride(from: axis.from, to: now, by: 3_600_000) { bars.add(100, at: moment) }
        var ranges = RangePlot(name, unit: unit, axis: axis, limits: [PlotLimit(140, name: name)], now: now)
        for index in Int64(0)..<50 {
            ranges.add(
                systolic: 130 + Double(index % 7), diastolic: 80, at: axis.from + index * hour, isCorrected: index == 9)
        }
        let night = TimeAxis(
            .day, from: try ShownPlots.moment("2026-11-27T22:00:00Z"),
            to: try ShownPlots.moment("2026-11-28T06:00:00Z"),
            in: try ShownPlots.calendar())
        let stages = NightDepth.allCases.enumerated().map { index, depth in
            Hypnogram.Stage(depth, from: night.from + Int64(index) * hour, to: night.from + Int64(index + 1) * hour)
        }
        let hypnogram = Hypnogram(name, axis: night, stages: stages, untimed: [.awake: 5])
        let totals = Hypnogram(name, axis: night, stages: [], untimed: [.light: 5])
        let zones = ZonesBar(name, milliseconds: [1, 2, 3, 4, 5].map { $0 * hour }, duration: 16 * hour, maximum: 190)
        var spark = Sparkline(name, unit: unit, axis: axis)
        spark.add(60, at: axis.from)
        return PlotLayout.allCases.flatMap { layout in
            [
                line.svg(layout), bars.svg(layout), ranges.svg(layout), hypnogram.svg(layout), totals.svg(layout),
                zones.svg(layout),
            ]
        } + [spark.svg()]
    }

    /// The names of all elements and attributes, after a check that elements are closed and attributes quoted.
    private func markup(_ svg: String) throws -> (elements: Set<String>, attributes: Set<String>) {
        var (open, elements, attributes): ([Substring], Set<String>, Set<String>) = ([], [], [])
        let tag = #/<(\/?)([a-z]+)((?: [A-Za-z:-]+="[^"<>]*")*)(\/?)>/#
        for match in svg.matches(of: tag) {
            let (_, closes, name, list, isEmpty) = match.output
            elements.insert(String(name))
            for attribute in list.matches(of: #/ ([A-Za-z:-]+)="/#) { attributes.insert(String(attribute.1)) }
            if !closes.isEmpty {
                #expect(open.popLast() == name)
            } else if isEmpty.isEmpty {
                open.append(name)
            }
        }
        #expect(open.isEmpty)
        let text = svg.replacing(tag, with: "")
        #expect(!text.contains("<") && !text.contains(">") && !text.contains("\""))
        #expect(text.replacing(#/&(?:amp|lt|gt|quot|#39);/#, with: "").contains("&") == false)
        return (elements, attributes)
    }

    @Test func `every plot is closed, is an image with a name and a description, and has neither style nor script`()
        throws
    {
        let data = Set(PlotData.allCases.map(\.rawValue))
        for svg in try plots() {
            let (elements, attributes) = try markup(svg)
            #expect(elements.isSubset(of: ["svg", "title", "desc", "path", "text", "circle"]))
            #expect(svg.hasPrefix("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot plot-"))
            #expect(ShownPlots.attributes("role", in: svg) == ["img"])
            #expect(svg.contains("><title>Heart rate"))
            #expect(ShownPlots.description(of: svg).hasSuffix("."))
            for attribute in attributes where attribute.hasPrefix("data-") { #expect(data.contains(attribute)) }
            #expect(
                !attributes.contains("style") && !attributes.contains { $0.hasPrefix("on") }
                    && !attributes.contains("id"))
            // Colours are those of the page.
            for colour in ShownPlots.attributes("fill", in: svg) + ShownPlots.attributes("stroke", in: svg) {
                #expect(["none", "currentColor"].contains(colour))
            }
        }
    }

    @Test func `every class of a plot is documented, and every documented one is in a plot`() throws {
        let documented = Set(PlotClass.allCases.map(\.rawValue))
        let lists = try plots().flatMap { ShownPlots.attributes("class", in: $0) }
        let used = Set(lists.flatMap { $0.split(separator: " ").map(String.init) })
        #expect(used == documented)
    }

    @Test func `every documented attribute is in a plot`() throws {
        let svg = try plots().joined()
        for name in PlotData.allCases { #expect(!ShownPlots.attributes(name.rawValue, in: svg).isEmpty, "\(name)") }
    }

    @Test func `a name from elsewhere is text and nothing else`() throws {
        for svg in try plots(name: "</title><script>alert('1')</script>", unit: "\"><style>*{}</style>") {
            let (elements, attributes) = try markup(svg)
            #expect(elements.isSubset(of: ["svg", "title", "desc", "path", "text", "circle"]))
            #expect(!attributes.contains("style"))
            #expect(svg.contains("&lt;script&gt;"))
        }
    }

    @Test func `the same values make the same bytes`() throws {
        #expect(try plots() == plots())
    }

    @Test(arguments: PlotPeriod.allCases, PlotLayout.allCases)
    func `no plot is larger than its limit, whatever its values are`(period: PlotPeriod, layout: PlotLayout) throws {
        let axis = TimeAxis(
            period, from: try ShownPlots.moment("2026-02-01T00:00:00Z"), to: .latest, in: try ShownPlots.calendar())
        let name = String(repeating: "'", count: 500)
        let limits = (0..<8).map { PlotLimit(Double($0) * -1e8, name: name) }
        var random = SplitMix64(seed: 7)
        func value() -> Double { Double.random(in: -1e9...1e9, using: &random) }
        var (line, apart) = (PlotBuckets(axis), PlotBuckets(axis))
        var ranges = RangePlot(name, unit: name, axis: axis, limits: limits, now: axis.to)
        var bars = BarPlot(name, unit: name, decimals: 3, axis: axis, now: axis.to - 1)
        var spark = Sparkline(name, unit: name, decimals: 3, axis: axis, bridge: 0)
        let step = period.lineStep / 4
        for (index, moment) in stride(from: axis.from, to: axis.to, by: Int64.Stride(step)).enumerated() {
            line.add(value(), at: moment, isCorrected: true)
            apart.add(value(), at: moment, isCorrected: index % 16 < 4)
            ranges.add(systolic: value(), diastolic: value(), at: moment, isCorrected: true)
            bars.add(value().magnitude, at: moment)
            spark.add(value(), at: moment)
        }
        let stages = stride(from: axis.from, to: axis.to, by: 60_000).prefix(10_000).enumerated().map { index, moment in
            Hypnogram.Stage(index % 2 == 0 ? .asleep : .inBed, from: moment, to: moment + 45_000)
        }
        let untimed = Dictionary(uniqueKeysWithValues: NightDepth.allCases.map { ($0, Int.max) })
        let plots = [
            LinePlot(name, unit: name, decimals: 3, values: line, limits: limits, now: axis.to).svg(layout),
            LinePlot(name, unit: name, decimals: 3, values: apart, limits: limits, bridge: 0, now: axis.to).svg(layout),
            ranges.svg(layout), bars.svg(layout), spark.svg(),
            Hypnogram(name, axis: axis, stages: stages, untimed: untimed).svg(layout),
            ZonesBar(name, milliseconds: [1, 2, 3, 4, 5], duration: .max, maximum: 1e300).svg(layout),
        ]
        for svg in plots {
            #expect(svg.utf8.count <= SVGText.maximumBytes, "\(svg.utf8.count) of \(svg.prefix(200))")
        }
    }
}
