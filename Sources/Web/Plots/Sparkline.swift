/// A small line without axes, for an overview: whether a value rises or falls, its gaps, and the newest value as a dot.
package struct Sparkline: Sendable {
    /// The metric's name.
    package var name: String
    package var unit: String?
    package var decimals: Int
    /// The longest time without a value that the line crosses, in milliseconds.
    package var bridge: Int64
    private var values: PlotBuckets

    private static let (width, height) = (120.0, 32.0)
    /// A sparkline has at most about as many points as this: one for each of its units of width is more than one sees.
    static let maximumCount = 120

    /// An empty sparkline over an axis. `bridge` is that of the axis' period unless given.
    package init(_ name: String, unit: String?, decimals: Int = 0, axis: TimeAxis, bridge: Int64? = nil) {
        self.name = name
        self.unit = unit
        self.decimals = decimals
        self.bridge = bridge ?? axis.period.longestBridge
        values = PlotBuckets(axis, step: axis.period.rangeStep)
    }

    /// Adds a value at a moment in milliseconds since 1970 UTC. One outside of the axis, or that is no number, is left out.
    package mutating func add(_ value: Double, at moment: Int64) { values.add(value, at: moment) }

    /// The plot as an `svg` element.
    package func svg() -> String {
        var svg = SVGText()
        PlotFrame.open(&svg, "spark", .spark, width: Self.width, height: Self.height, fontSize: 10)
        svg.markup(">")
        var words = PlotWords(title: "\(name), \(values.axis.words)")
        guard let lowest = values.lowest, let highest = values.highest, let newest = values.newest else {
            words.add("No values")
            words.write(to: &svg)
            svg.markup("</svg>")
            return svg.string
        }
        func text(_ value: Double) -> String {
            PlotNumber.text(value, decimals: decimals) + (unit.map { " \($0)" } ?? "")
        }
        words.add("Between \(text(lowest.value)) and \(text(highest.value))")
        words.add("Newest \(text(newest.value))")
        words.write(to: &svg)
        let axis = values.axis
        // Without room for marks the line fills the height; what hardly changes stays in the middle.
        let scale = ValueAxis(lowest.value, highest.value, decimals: decimals, count: 100)
        func x(_ moment: Int64) -> Double {
            3 + (Self.width - 6) * Double(moment - axis.from) / Double(axis.to - axis.from)
        }
        func y(_ value: Double) -> Double {
            Self.height - 4 - (Self.height - 8) * (value - scale.low) / (scale.high - scale.low)
        }
        var (line, dots) = (SVGPath(), SVGPath())
        for run in values.runs(bridge: bridge) {
            for (index, bucket) in run.map({ values.buckets[$0] }).enumerated() {
                let place = (x(bucket.moment(from: axis.from)), y(bucket.mean))
                if run.count == 1 {
                    dots.dot(place.0, place.1)
                } else if index == 0 {
                    line.move(place.0, place.1)
                } else {
                    line.line(place.0, place.1)
                }
            }
        }
        svg.path(.line, line, strokeWidth: 1.5)
        svg.path(.dots, dots, strokeWidth: 2.5)
        svg.circle(.newest, x: x(newest.moment), y: y(newest.value), radius: 2.4)
        svg.markup("</svg>")
        return svg.string
    }
}
