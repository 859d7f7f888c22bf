/// Blood pressure over time: a bar from diastolic to systolic pressure for each measurement, or for the means of several, which
/// then have a thin line from the lowest to the highest.
package struct RangePlot: Sendable {
    /// No plot of ranges has more bars than this: they are wider than the points of a line.
    static let maximumCount = 110

    /// The name, such as `Blood pressure`.
    package var name: String
    package var unit: String?
    package let axis: TimeAxis
    /// Limits of alerts.
    package var limits: [PlotLimit]
    /// The present moment, in milliseconds since 1970 UTC.
    package var now: Int64

    private var systolic: PlotBuckets
    private var diastolic: PlotBuckets

    /// A plot without any values.
    package init(_ name: String, unit: String?, axis: TimeAxis, limits: [PlotLimit] = [], now: Int64) {
        self.name = name
        self.unit = unit
        self.axis = axis
        self.limits = limits
        self.now = now
        systolic = PlotBuckets(axis, step: axis.period.rangeStep)
        diastolic = systolic
    }

    /// Adds a measurement at a moment in milliseconds since 1970 UTC. One outside of the axis, or that is no number, is left out.
    package mutating func add(systolic high: Double, diastolic low: Double, at moment: Int64, isCorrected: Bool = false)
    {
        guard high.isFinite, low.isFinite else { return }
        systolic.add(max(high, low), at: moment, isCorrected: isCorrected)
        diastolic.add(min(high, low), at: moment)
    }

    /// The plot as an `svg` element.
    package func svg(_ layout: PlotLayout) -> String {
        var svg = SVGText()
        let extent = diastolic.extent.flatMap { low in systolic.extent.map { low.lowerBound...$0.upperBound } }
        let values = ValueAxis(
            values: extent, near: limits.map(\.value), bounds: 0...PlotNumber.maximum, decimals: 0,
            count: layout.isWide ? 5 : 4)
        let frame = PlotFrame(
            layout, time: axis, values: values, top: 30,
            rightRoom: limits.isEmpty ? 14 : PlotLimit.room(limits, layout, decimals: 0))
        frame.begin(&svg, "ranges", words, unit: unit, data: .ranges, items: items(frame))
        frame.axes(&svg, unit: unit)
        frame.limits(&svg, limits, decimals: 0)
        frame.now(&svg, now)
        ranges(&svg, frame)
        svg.markup("</svg>")
        return svg.string
    }

    private func pressure(_ high: Double, _ low: Double) -> String {
        "\(PlotNumber.text(high, decimals: 0))/\(PlotNumber.text(low, decimals: 0))"
    }

    private var words: PlotWords {
        var words = PlotWords(title: "\(name), \(axis.words)")
        guard let top = systolic.highest, let bottom = diastolic.lowest, let newest = systolic.newest,
            let newestLow = diastolic.newest
        else {
            words.add("No values")
            return words
        }
        let suffix = unit.map { " \($0)" } ?? ""
        words.add("Newest \(pressure(newest.value, newestLow.value))\(suffix) (\(axis.words(newest.moment)))")
        words.add(
            "Highest systolic \(PlotNumber.text(top.value, decimals: 0))\(suffix) (\(axis.words(top.moment)))")
        words.add(
            "Lowest diastolic \(PlotNumber.text(bottom.value, decimals: 0))\(suffix) (\(axis.words(bottom.moment)))")
        words.add(
            "Mean \(pressure(systolic.mean, diastolic.mean))\(suffix) of \(systolic.count) "
                + "measurement\(systolic.count == 1 ? "" : "s")")
        if systolic.corrections > 0 {
            words.add("\(systolic.corrections) corrected")
        }
        for limit in limits { words.add("Limit \(limit.name): \(PlotNumber.text(limit.value, decimals: 0))\(suffix)") }
        return words
    }

    private func items(_ frame: PlotFrame) -> [UInt8] {
        var items: [UInt8] = []
        for (high, low) in zip(systolic.buckets, diastolic.buckets) where high.count > 0 {
            if !items.isEmpty { items.append(UInt8(ascii: " ")) }
            items.append(number: frame.minutes(high.moment(from: axis.from)))
            let members = [high.mean, low.mean] + (high.count > 1 ? [high.maximum, low.minimum] : [])
            for value in members {
                items.append(UInt8(ascii: ","))
                items.append(value, decimals: 0)
            }
        }
        return items
    }

    private func ranges(_ svg: inout SVGText, _ frame: PlotFrame) {
        var (bars, lines, corrections) = (SVGPath(), SVGPath(), SVGPath())
        for (high, low) in zip(systolic.buckets, diastolic.buckets) where high.count > 0 {
            let x = frame.x(high.moment(from: axis.from))
            bars.stroke(x, frame.y(low.mean), x, frame.y(high.mean))
            if high.count > 1 { lines.stroke(x, frame.y(low.minimum), x, frame.y(high.maximum)) }
            if high.hasCorrection {
                corrections.move(x - 4, frame.bottom)
                corrections.line(x, frame.bottom - 7)
                corrections.line(x + 4, frame.bottom)
                corrections.close()
            }
        }
        svg.path(.whisker, lines, strokeWidth: 1.2)
        svg.path(.range, bars, strokeWidth: frame.layout.isWide ? 5 : 2.8)
        svg.path(.correction, corrections)
        guard let newest = systolic.newest, let low = diastolic.newest else {
            svg.label(
                .note, "No values", x: (frame.left + frame.right) / 2, y: (frame.top + frame.bottom) / 2,
                anchor: .middle)
            return
        }
        let label = pressure(newest.value, low.value)
        let half = frame.layout.width(of: label) / 2
        // Above the highest of its neighbours would be another place each time: the newest stands above the plot.
        svg.label(
            .value, label, x: min(max(frame.x(newest.moment), frame.left + half), frame.right - half),
            y: frame.top - 8, anchor: .middle)
    }
}
