/// A metric over time: the line of its means, the band of its extremes, gaps, corrections and limits.
package struct LinePlot: Sendable {
    /// The metric's name, such as `Heart rate`.
    package var name: String
    package var unit: String?
    /// Decimals of a value.
    package var decimals: Int
    package var values: PlotBuckets
    /// What no value can be beyond.
    package var bounds: ClosedRange<Double>?
    /// Limits of alerts.
    package var limits: [PlotLimit]
    /// The longest time without a value that the line crosses, in milliseconds.
    package var bridge: Int64
    /// The present moment, in milliseconds since 1970 UTC.
    package var now: Int64

    /// A plot of these values. `bridge` is that of the period unless given.
    package init(
        _ name: String, unit: String?, decimals: Int = 0, values: PlotBuckets, bounds: ClosedRange<Double>? = nil,
        limits: [PlotLimit] = [], bridge: Int64? = nil, now: Int64
    ) {
        self.name = name
        self.unit = unit
        self.decimals = decimals
        self.values = values
        self.bounds = bounds
        self.limits = limits
        self.bridge = bridge ?? values.axis.period.longestBridge
        self.now = now
    }

    /// The plot as an `svg` element.
    package func svg(_ layout: PlotLayout) -> String {
        var svg = SVGText()
        let axis = ValueAxis(
            values: values.extent, near: limits.map(\.value), bounds: bounds, decimals: decimals,
            count: layout.isWide ? 5 : 4)
        let frame = PlotFrame(
            layout, time: values.axis, values: axis, top: 30,
            rightRoom: limits.isEmpty ? 14 : PlotLimit.room(limits, layout, decimals: decimals))
        frame.begin(&svg, "line", words, unit: unit, data: .points, items: items(frame), bridge: bridge)
        frame.gaps(&svg, values.gaps(bridge: bridge, now: now))
        frame.axes(&svg, unit: unit)
        frame.limits(&svg, limits, decimals: decimals)
        frame.now(&svg, now)
        line(&svg, frame)
        corrections(&svg, frame)
        marks(&svg, frame)
        if values.count == 0 {
            svg.label(
                .note, "No values", x: (frame.left + frame.right) / 2, y: (frame.top + frame.bottom) / 2,
                anchor: .middle)
        }
        svg.markup("</svg>")
        return svg.string
    }

    private var words: PlotWords {
        var words = PlotWords(title: "\(name), \(values.axis.words)")
        guard let lowest = values.lowest, let highest = values.highest, let newest = values.newest else {
            words.add("No values")
            return words
        }
        words.add("Lowest \(text(lowest.value)) (\(values.axis.words(lowest.moment)))")
        words.add("Highest \(text(highest.value)) (\(values.axis.words(highest.moment)))")
        let mean = PlotNumber.text(values.mean, decimals: max(decimals, 1)) + suffix
        words.add("Mean \(mean) of \(values.count) value\(values.count == 1 ? "" : "s")")
        words.add("Newest \(text(newest.value)) (\(values.axis.words(newest.moment)))")
        values.describe(&words, bridge: bridge, now: now)
        for limit in limits { words.add("Limit \(limit.name): \(text(limit.value))") }
        return words
    }

    private var suffix: String { unit.map { " \($0)" } ?? "" }

    private func text(_ value: Double) -> String { PlotNumber.text(value, decimals: decimals) + suffix }

    private func items(_ frame: PlotFrame) -> [UInt8] {
        var items: [UInt8] = []
        let places = max(decimals, 1)
        for bucket in values.buckets where bucket.count > 0 {
            if !items.isEmpty { items.append(UInt8(ascii: " ")) }
            items.append(number: frame.minutes(bucket.moment(from: values.axis.from)))
            items.append(UInt8(ascii: ","))
            items.append(bucket.mean, decimals: places)
            guard bucket.minimum < bucket.maximum else { continue }
            for value in [bucket.minimum, bucket.maximum] {
                items.append(UInt8(ascii: ","))
                items.append(value, decimals: decimals)
            }
        }
        return items
    }

    private func line(_ svg: inout SVGText, _ frame: PlotFrame) {
        var (band, line, dots) = (SVGPath(), SVGPath(), SVGPath())
        for run in values.runs(bridge: bridge) {
            // What it takes to draw a point, once for band and line.
            let points = run.map { index in
                let bucket = values.buckets[index]
                return (
                    x: frame.x(bucket.moment(from: values.axis.from)), mean: frame.y(bucket.mean),
                    low: frame.y(bucket.minimum), high: frame.y(bucket.maximum)
                )
            }
            guard points.count > 1 else {
                let (x, point, span) = (points[0].x, points[0], values.span(run[0]))
                let half = max((frame.x(span.upperBound) - frame.x(span.lowerBound)) / 2, 0.5)
                if point.low > point.high { band.rectangle(x - half, point.high, x + half, point.low) }
                dots.dot(x, point.mean)
                continue
            }
            line.move(points[0].x, points[0].mean)
            for point in points.dropFirst() { line.line(point.x, point.mean) }
            guard points.contains(where: { $0.low > $0.high }) else { continue }
            band.move(points[0].x, points[0].high)
            for point in points.dropFirst() { band.line(point.x, point.high) }
            for point in points.reversed() { band.line(point.x, point.low) }
            band.close()
        }
        svg.path(.band, band)
        svg.path(.line, line, strokeWidth: frame.layout.isWide ? 1.8 : 1.6)
        svg.path(.dots, dots, strokeWidth: frame.layout.isWide ? 4 : 3.5)
    }

    /// Triangles on the axis; neighbours share one.
    private func corrections(_ svg: inout SVGText, _ frame: PlotFrame) {
        var path = SVGPath()
        var open: (from: Double, to: Double)?
        func draw() {
            guard let open else { return }
            path.move(open.from - 4, frame.bottom)
            path.line(open.from, frame.bottom - 7)
            path.line(open.to, frame.bottom - 7)
            path.line(open.to + 4, frame.bottom)
            path.close()
        }
        for bucket in values.buckets where bucket.hasCorrection {
            let x = frame.x(bucket.moment(from: values.axis.from))
            if let before = open, x - before.to < 9 {
                open = (before.from, x)
            } else {
                draw()
                open = (x, x)
            }
        }
        draw()
        svg.path(.correction, path)
    }

    /// The extremes with their values, and the newest value.
    private func marks(_ svg: inout SVGText, _ frame: PlotFrame) {
        guard let lowest = values.lowest, let highest = values.highest, let newest = values.newest else { return }
        let radius = frame.layout.isWide ? 3.0 : 2.6
        for (point, rise) in [(highest, -6.0), (lowest, frame.layout.fontSize + 3)] where lowest.value < highest.value {
            // An extreme stands where its bucket does, which many values share.
            let (x, y) = (frame.x(point.moment), frame.y(point.value))
            let label = PlotNumber.text(point.value, decimals: decimals)
            let half = frame.layout.width(of: label) / 2
            // Not among the texts of the time axis.
            let baseline = min(y + rise, frame.bottom - 3)
            svg.circle(.extreme, x: x, y: y, radius: radius - 0.6)
            svg.label(
                .value, label, x: min(max(x, frame.left + half), frame.right - half), y: baseline, anchor: .middle)
        }
        svg.circle(.newest, x: frame.x(newest.moment), y: frame.y(newest.value), radius: radius)
    }
}
