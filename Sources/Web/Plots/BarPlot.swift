/// A counter over time: a bar for each hour of a day, day of a week or a month, month of a year.
package struct BarPlot: Sendable {
    /// The counter's name, such as `Steps`.
    package var name: String
    package var unit: String?
    /// Decimals of a total.
    package var decimals: Int
    package let axis: TimeAxis
    /// The present moment, in milliseconds since 1970 UTC. Its bar is not complete.
    package var now: Int64

    private let spans: [Range<Int64>]
    /// What was counted in each span; `nil` where nothing says anything.
    private(set) var totals: [Double?]
    private var index = 0

    /// A plot without any counts.
    package init(_ name: String, unit: String?, decimals: Int = 0, axis: TimeAxis, now: Int64) {
        self.name = name
        self.unit = unit
        self.decimals = decimals
        self.axis = axis
        self.now = now
        spans = axis.barSpans
        totals = Array(repeating: nil, count: spans.count)
    }

    /// Adds what was counted from a moment on, in milliseconds since 1970 UTC, to the bar in which the moment is. What begins outside
    /// of the axis, or is no number, is left out.
    package mutating func add(_ amount: Double, at moment: Int64) {
        guard moment >= axis.from, moment < axis.to, amount.isFinite, amount >= 0 else { return }
        if !spans[index].contains(moment) {
            if index + 1 < spans.count, spans[index + 1].contains(moment) {
                index += 1
            } else {
                var (low, high) = (0, spans.count - 1)
                while low < high {
                    let middle = (low + high + 1) / 2
                    if spans[middle].lowerBound <= moment { low = middle } else { high = middle - 1 }
                }
                index = low
            }
        }
        totals[index] = min((totals[index] ?? 0) + amount, PlotNumber.maximum)
    }

    private func isPartial(_ index: Int) -> Bool { spans[index].contains(now) }

    /// The plot as an `svg` element.
    package func svg(_ layout: PlotLayout) -> String {
        var svg = SVGText()
        let values = ValueAxis(
            0, (totals.compactMap { $0 }.max() ?? 0) * 1.08, bounds: 0...2 * PlotNumber.maximum, decimals: decimals,
            count: layout.isWide ? 4 : 3)
        let frame = PlotFrame(layout, time: axis, values: values, top: 30)
        frame.begin(&svg, "bars", words, unit: unit, data: .bars, items: items(frame))
        frame.gaps(&svg, missing)
        frame.axes(&svg, unit: unit)
        bars(&svg, frame)
        svg.markup("</svg>")
        return svg.string
    }

    /// The complete spans about which nothing is known. An hour without a count is none: many devices keep only what they have counted.
    private var missing: [Range<Int64>] {
        axis.period == .day && totals.contains { $0 != nil }
            ? [] : zip(spans, totals).filter { $1 == nil && $0.upperBound <= now }.map(\.0)
    }

    /// What one bar is.
    private var span: String {
        switch axis.period {
        case .day: "hour"
        case .week, .month: "day"
        case .year: "month"
        }
    }

    private var words: PlotWords {
        var words = PlotWords(title: "\(name) per \(span), \(axis.words)")
        let known = totals.indices.filter { totals[$0] != nil }
        guard let most = known.max(by: { (totals[$0] ?? 0) < (totals[$1] ?? 0) }) else {
            words.add("No values")
            return words
        }
        func text(_ value: Double) -> String {
            PlotNumber.text(value, decimals: decimals) + (unit.map { " \($0)" } ?? "")
        }
        let sum = known.reduce(0) { $0 + (totals[$1] ?? 0) }
        words.add("In total \(text(sum))")
        words.add("Most \(text(totals[most] ?? 0)) (\(axis.words(spans[most])))")
        let complete = known.filter { !isPartial($0) }
        if axis.period != .day, complete.count > 1 {
            let mean = complete.reduce(0) { $0 + (totals[$1] ?? 0) } / Double(complete.count)
            words.add("Mean of \(complete.count) complete \(span)s \(text(mean))")
        }
        if let running = known.first(where: isPartial) {
            words.add("Until now \(text(totals[running] ?? 0)) (\(axis.words(spans[running])))")
        }
        if !missing.isEmpty { words.add("\(missing.count) \(span)\(missing.count == 1 ? "" : "s") without values") }
        return words
    }

    private func items(_ frame: PlotFrame) -> [UInt8] {
        var items: [UInt8] = []
        for (index, total) in totals.enumerated() where spans[index].lowerBound <= now {
            if !items.isEmpty { items.append(UInt8(ascii: " ")) }
            items.append(number: frame.minutes(spans[index].lowerBound))
            items.append(UInt8(ascii: ","))
            items.append(number: frame.minutes(spans[index].upperBound))
            items.append(UInt8(ascii: ","))
            if let total { items.append(total, decimals: decimals) }
            if isPartial(index) { items.append(contentsOf: ",partial".utf8) }
        }
        return items
    }

    private func bars(_ svg: inout SVGText, _ frame: PlotFrame) {
        var (complete, partial) = (SVGPath(), SVGPath())
        for (index, total) in totals.enumerated() {
            guard let total else { continue }
            let (start, end) = (frame.x(spans[index].lowerBound), frame.x(spans[index].upperBound))
            let space = min((end - start) * 0.12, 8)
            // A counted zero is not nothing.
            let top = min(frame.y(total), frame.bottom - 1)
            if isPartial(index) {
                partial.rectangle(start + space, top, end - space, frame.bottom)
            } else {
                complete.rectangle(start + space, top, end - space, frame.bottom)
            }
        }
        svg.path(.bar, complete)
        svg.path(.partialBar, partial)
        // Totals above bars that are wide enough.
        for (index, total) in totals.enumerated() {
            guard let total, total > 0 else { continue }
            let (start, end) = (frame.x(spans[index].lowerBound), frame.x(spans[index].upperBound))
            let label = PlotNumber.short(total, decimals: decimals)
            guard frame.layout.width(of: label) <= end - start - 2 else { continue }
            svg.label(.value, label, x: (start + end) / 2, y: frame.y(total) - 5, anchor: .middle)
        }
    }
}
