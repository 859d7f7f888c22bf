/// The two layouts of each plot. A page holds both, and its style sheet shows one: `narrow` up to 640 px, `wide` beyond.
/// The `viewBox` lets them scale, and the text stays readable in each range.
package enum PlotLayout: CaseIterable, Sendable {
    case narrow, wide

    /// Whether there is room for more words.
    var isWide: Bool { self == .wide }
    var width: Double { isWide ? 860 : 360 }
    var height: Double { isWide ? 280 : 210 }
    /// The size of all texts.
    var fontSize: Double { isWide ? 14 : 12 }
    var plotClass: PlotClass { isWide ? .wide : .narrow }

    /// About how wide a text is: most fonts without serifs have digits of 0.56 of their size.
    func width(of text: String) -> Double { Double(text.count) * fontSize * 0.57 }
}

/// The head of a plot: its name for a screen reader, and its description in words.
struct PlotWords {
    /// The name: what is shown, and of when.
    var title: String
    /// Sentences.
    var sentences: [String] = []

    /// Adds a sentence, without its full stop.
    mutating func add(_ sentence: String) { sentences.append(sentence + ".") }

    /// Writes `title` and `desc`. Each sentence is escaped, and cut, on its own.
    func write(to svg: inout SVGText) {
        svg.markup("<title>")
        svg.text(title)
        svg.markup("</title><desc>")
        for (index, sentence) in sentences.enumerated() {
            if index > 0 { svg.markup(" ") }
            svg.text(sentence)
        }
        svg.markup("</desc>")
    }
}

/// The plot area within its margins, with a time axis and, if it shows values, a value axis.
struct PlotFrame {
    let layout: PlotLayout
    let time: TimeAxis
    let values: ValueAxis?
    let left: Double
    let right: Double
    let top: Double
    let bottom: Double
    let height: Double

    /// A frame whose margins have room for the value axis, or for row labels of `leftRoom`, for texts on the right, and for what stands
    /// below the time axis.
    init(
        _ layout: PlotLayout, time: TimeAxis, values: ValueAxis?, top: Double = 22, leftRoom: Double = 0,
        rightRoom: Double = 0, bottomRoom: Double = 0, height: Double? = nil
    ) {
        self.layout = layout
        self.time = time
        self.values = values
        self.height = height ?? layout.height
        let labels = values?.labels.map { layout.width(of: $0) }.max() ?? 0
        left = max(labels, leftRoom) + 10
        // A long name leaves room for the plot.
        right = layout.width - min(max(rightRoom, 10), layout.width * 0.4)
        self.top = top
        bottom = self.height - bottomRoom - layout.fontSize - 9
    }

    /// The place of a moment, in milliseconds since 1970 UTC, within the plot area.
    func x(_ moment: Int64) -> Double {
        let part = Double(min(max(moment, time.from), time.to) - time.from) / Double(time.to - time.from)
        return left + part * (right - left)
    }

    /// The place of a value, within the plot area.
    func y(_ value: Double) -> Double {
        guard let values else { return bottom }
        let part = (min(max(value, values.low), values.high) - values.low) / (values.high - values.low)
        return bottom - part * (bottom - top)
    }

    /// Whole minutes from the axis' first moment.
    func minutes(_ moment: Int64) -> Int { Int((moment - time.from) / 60_000) }

    /// The opening `svg` element with its words and what a script reads.
    func begin(
        _ svg: inout SVGText, _ kind: StaticString, _ words: PlotWords, unit: String? = nil, data: PlotData,
        items: [UInt8], bridge: Int64? = nil
    ) {
        Self.open(&svg, kind, layout.plotClass, width: layout.width, height: height, fontSize: layout.fontSize)
        var list: [UInt8] = []
        func attribute(_ name: PlotData, _ write: (inout [UInt8]) -> Void) {
            list.removeAll(keepingCapacity: true)
            write(&list)
            svg.data(name, list)
        }
        attribute(.from) { $0.append(number: Int(time.from / 1000)) }
        attribute(.to) { $0.append(number: Int(time.to / 1000)) }
        attribute(.period) { $0.append(contentsOf: time.period.rawValue.utf8) }
        attribute(.offsets) { list in
            let offsets = time.calendar.offsets
            let first = offsets.lastIndex { $0.from <= time.from } ?? 0
            for (index, offset) in offsets[first...].enumerated() where index == 0 || offset.from < time.to {
                if index > 0 { list.append(UInt8(ascii: " ")) }
                list.append(number: offset.seconds)
                list.append(UInt8(ascii: ","))
                list.append(number: index == 0 ? 0 : minutes(offset.from))
            }
        }
        attribute(.area) { list in
            for (index, edge) in [left, right, top, bottom].enumerated() {
                if index > 0 { list.append(UInt8(ascii: " ")) }
                list.append(edge, decimals: 1)
            }
        }
        if let values {
            attribute(.values) { list in
                list.append(values.low, decimals: 3)
                list.append(UInt8(ascii: " "))
                list.append(values.high, decimals: 3)
            }
        }
        if let unit { svg.attribute("data-unit", unit) }
        if let bridge { attribute(.bridge) { $0.append(number: Int(bridge / 60_000)) } }
        svg.data(data, items)
        svg.markup(">")
        words.write(to: &svg)
    }

    /// The opening `svg` element, up to its attributes.
    static func open(
        _ svg: inout SVGText, _ kind: StaticString, _ plotClass: PlotClass, width: Double, height: Double,
        fontSize: Double
    ) {
        svg.markup("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot ")
        svg.text(plotClass.rawValue)
        svg.markup("\" viewBox=\"0 0 ")
        svg.text(PlotNumber.text(width, decimals: 0))
        svg.markup(" ")
        svg.text(PlotNumber.text(height, decimals: 0))
        svg.markup("\" role=\"img\" fill=\"currentColor\"")
        svg.attribute("font-size", fontSize)
        svg.markup(" data-plot=\"")
        svg.markup(kind)
        svg.markup("\"")
    }

    /// The lines and texts of both axes; with the times of both ends, if these are what one looks for.
    func axes(_ svg: inout SVGText, unit: String? = nil, withEnds: Bool = false) {
        if let values {
            var grid = SVGPath()
            for tick in values.ticks { grid.stroke(left, y(tick), right, y(tick)) }
            svg.path(.grid, grid)
            // The unit stands on the left above the axis, and takes no mark's place.
            if let unit { svg.label(.note, unit, x: 4, y: top - 10) }
            for (tick, label) in zip(values.ticks, values.labels) {
                svg.label(.label, label, x: left - 5, y: y(tick) + layout.fontSize * 0.35, anchor: .end)
            }
        }
        var lines = SVGPath()
        let ticks = time.ticks(layout)
        for tick in ticks where tick.hasLine { lines.stroke(x(tick.moment), top, x(tick.moment), bottom + 3) }
        svg.path(.tick, lines)
        var base = SVGPath()
        base.stroke(left, bottom, right, bottom)
        svg.path(.base, base)
        // A label that would touch another one is left out, as after an hour that repeats.
        let y = bottom + layout.fontSize + 4
        var (free, end) = (-1.0, layout.width)
        if withEnds {
            let texts = (time.calendar.clock(time.from), time.calendar.clock(time.to))
            svg.label(.value, texts.0, x: left, y: y)
            svg.label(.value, texts.1, x: right, y: y, anchor: .end)
            // They are stressed, and so wider.
            (free, end) = (left + layout.width(of: texts.0) * 1.25, right - layout.width(of: texts.1) * 1.25)
        }
        for tick in ticks {
            guard let label = tick.label else { continue }
            let half = layout.width(of: label) / 2
            let place = min(max(x(tick.labelMoment), half + 1), layout.width - half - 1)
            guard place - half > free + 2, place + half < end else { continue }
            free = place + half
            svg.label(.label, label, x: place, y: y, anchor: .middle)
        }
    }

    /// Shades times without values.
    func gaps(_ svg: inout SVGText, _ gaps: [Range<Int64>]) {
        var path = SVGPath()
        for gap in gaps where x(gap.upperBound) - x(gap.lowerBound) >= 0.5 {
            path.rectangle(x(gap.lowerBound), top, x(gap.upperBound), bottom)
        }
        svg.path(.gap, path)
    }

    /// The line at the present moment, if the axis has it.
    func now(_ svg: inout SVGText, _ now: Int64) {
        guard now > time.from, now < time.to else { return }
        var path = SVGPath()
        path.stroke(x(now), top, x(now), bottom)
        svg.path(.now, path)
    }

    /// The lines of limits with their texts on the right, which give way to each other. An arrow points to one beyond the axis.
    func limits(_ svg: inout SVGText, _ limits: [PlotLimit], decimals: Int) {
        guard let values else { return }
        var (path, lastY, labels): (SVGPath, Double, [(text: String, y: Double)]) = (SVGPath(), -1e6, [])
        for limit in limits.sorted(by: { $0.value > $1.value }) {
            var text = limit.label(layout, decimals: decimals)
            if limit.value > values.high {
                text = "↑ " + text
            } else if limit.value < values.low {
                text = "↓ " + text
            } else {
                path.stroke(left, y(limit.value), right, y(limit.value))
            }
            // Without names, two at the same value look the same.
            guard text != labels.last?.text else { continue }
            lastY = max(y(limit.value) + layout.fontSize * 0.35, lastY + layout.fontSize)
            labels.append((text, lastY))
        }
        svg.path(.limit, path)
        for label in labels { svg.label(.limitLabel, label.text, x: right + 4, y: label.y) }
    }
}

/// A limit of an alert, in the unit of the plot.
package struct PlotLimit: Sendable {
    package var value: Double
    /// What it limits, such as `high` or `systolic high`.
    package var name: String

    package init(_ value: Double, name: String) {
        self.value = min(max(value.isNaN ? 0 : value, -PlotNumber.maximum), PlotNumber.maximum)
        self.name = name
    }

    /// The text at its line.
    func label(_ layout: PlotLayout, decimals: Int) -> String {
        let number = PlotNumber.text(value, decimals: value == value.rounded() ? 0 : decimals)
        return layout.isWide ? "\(number) \(name)" : number
    }

    /// The room that the texts of limits need on the right.
    static func room(_ limits: [PlotLimit], _ layout: PlotLayout, decimals: Int) -> Double {
        (limits.map { layout.width(of: $0.label(layout, decimals: decimals)) }.max() ?? 0) + 10 + layout.fontSize
    }
}

extension SVGText {
    /// Appends what a script reads.
    mutating func data(_ name: PlotData, _ value: [UInt8]) {
        markup(" ")
        text(name.rawValue)
        markup("=\"")
        append(value)
        markup("\"")
    }
}
