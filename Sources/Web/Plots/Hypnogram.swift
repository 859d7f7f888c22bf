/// How deep a sleep is. The raw value is the name in the contract.
package enum NightDepth: String, CaseIterable, Sendable {
    case awake, rem, light, deep
    /// Asleep at an unknown depth.
    case asleep
    /// In bed, where nothing says whether asleep.
    case inBed = "in_bed"

    var name: String {
        switch self {
        case .awake: "Awake"
        case .rem: "REM"
        case .light: "Light"
        case .deep: "Deep"
        case .asleep: "Asleep"
        case .inBed: "In bed"
        }
    }

    var plotClass: PlotClass {
        switch self {
        case .awake: .awake
        case .rem: .rem
        case .light: .light
        case .deep: .deep
        case .asleep: .asleep
        case .inBed: .inBed
        }
    }

    /// Whether its minutes count as sleep.
    var isAsleep: Bool { self != .awake && self != .inBed }
}

/// One night: a row for each depth of sleep over time. Minutes of which only the number is known are bars below, without times.
package struct Hypnogram: Sendable {
    /// Of a night with more stages each column shows the depth that takes most of it: no screen shows more.
    static let maximumStages = 600

    /// A part of a night, in milliseconds since 1970 UTC.
    package struct Stage: Sendable {
        package var depth: NightDepth
        package var from: Int64
        package var to: Int64

        package init(_ depth: NightDepth, from: Int64, to: Int64) {
            self.depth = depth
            self.from = from
            self.to = to
        }
    }

    /// The name, such as `Sleep`.
    package var name: String
    package let axis: TimeAxis
    private let stages: [Stage]
    /// Minutes beside those of the stages.
    private let untimed: [NightDepth: Int]
    /// Milliseconds of the stages.
    private let timed: [NightDepth: Int64]

    /// A night on an axis from its begin to its end.
    /// - Parameters:
    ///   - stages: in order of time. What overlaps an earlier one, or is outside of the axis, is left out.
    ///   - untimed: minutes of each depth beside those of the stages.
    package init(_ name: String, axis: TimeAxis, stages: [Stage], untimed: [NightDepth: Int] = [:]) {
        self.name = name
        self.axis = axis
        // No night is as long as a hundred days, and no sum of those reaches beyond what a number holds.
        self.untimed = untimed.filter { $0.value > 0 }.mapValues { min($0, 144_000) }
        var (clipped, timed, last): ([Stage], [NightDepth: Int64], Int64) = ([], [:], axis.from)
        for stage in stages {
            let (from, to) = (max(stage.from, last), min(stage.to, axis.to))
            guard from < to else { continue }
            clipped.append(Stage(stage.depth, from: from, to: to))
            timed[stage.depth, default: 0] += to - from
            last = to
        }
        self.timed = timed
        self.stages = clipped.count > Self.maximumStages ? Self.columns(clipped, axis) : clipped
    }

    /// One stage for each column, of the depth that takes most of it.
    private static func columns(_ stages: [Stage], _ axis: TimeAxis) -> [Stage] {
        let depths = NightDepth.allCases
        let width = (axis.to - axis.from + Int64(maximumStages) - 1) / Int64(maximumStages)
        var sums = [Int64](repeating: 0, count: maximumStages * depths.count)
        for stage in stages {
            let row = depths.firstIndex(of: stage.depth) ?? 0
            var from = stage.from
            while from < stage.to {
                let column = (from - axis.from) / width
                let end = min(axis.from + (column + 1) * width, stage.to)
                sums[Int(column) * depths.count + row] += end - from
                from = end
            }
        }
        return (0..<maximumStages).compactMap { column in
            let part = sums[column * depths.count..<(column + 1) * depths.count]
            guard let most = part.indices.max(by: { part[$0] < part[$1] }), part[most] > 0 else { return nil }
            let from = axis.from + Int64(column) * width
            return Stage(depths[most - column * depths.count], from: from, to: min(from + width, axis.to))
        }
    }

    /// Whole minutes of a depth, with and without times.
    private func minutes(_ depth: NightDepth) -> Int { Int((timed[depth] ?? 0) / 60_000) + (untimed[depth] ?? 0) }

    /// The rows over time: those of a whole night if it has a stage of one, and others that occur.
    private var rows: [NightDepth] {
        let hasStages = [NightDepth.rem, .light, .deep].contains { timed[$0] != nil }
        return NightDepth.allCases.filter { timed[$0] != nil || hasStages && $0 != .asleep && $0 != .inBed }
    }

    private static let rowHeight = 26.0

    /// The plot as an `svg` element.
    package func svg(_ layout: PlotLayout) -> String {
        var svg = SVGText()
        let rows = rows
        let totals = NightDepth.allCases.filter { untimed[$0] != nil }
        let below = totals.isEmpty ? 0 : Double(totals.count) * 22 + 27
        let height = 10 + Double(max(rows.count, 1)) * Self.rowHeight + layout.fontSize + 9 + below
        let frame = PlotFrame(
            layout, time: axis, values: nil, top: 10,
            leftRoom: layout.width(of: "Asleep") + 8, rightRoom: layout.width(of: "10 h 59 min") + 12,
            bottomRoom: below, height: height)
        frame.begin(&svg, "night", words, data: .stages, items: items(frame))
        frame.axes(&svg, withEnds: true)
        if rows.isEmpty { box(&svg, frame, totals) } else { timed(&svg, frame, rows) }
        if !totals.isEmpty { bars(&svg, frame, totals) }
        svg.markup("</svg>")
        return svg.string
    }

    private var words: PlotWords {
        var words = PlotWords(title: "\(name), \(axis.words)")
        words.add(
            "From \(axis.words(axis.from)) to \(axis.words(axis.to)), \(PlotNumber.duration(axis.to - axis.from))")
        let asleep = NightDepth.allCases.filter(\.isAsleep).reduce(0) { $0 + minutes($1) }
        if asleep > 0 {
            words.add("Asleep \(PlotNumber.minutes(asleep))")
        } else if minutes(.inBed) > 0 {
            words.add("A time in bed: nothing says when asleep")
        }
        for depth in NightDepth.allCases where minutes(depth) > 0 {
            let name = depth == .asleep ? "At an unknown depth" : depth.name
            words.add("\(name) \(PlotNumber.minutes(minutes(depth)))")
        }
        if !untimed.isEmpty {
            words.add(
                stages.isEmpty
                    ? "The device says how long, and not when"
                    : "Of some minutes the device says how long, and not when")
        }
        return words
    }

    private func items(_ frame: PlotFrame) -> [UInt8] {
        var items: [UInt8] = []
        for stage in stages {
            if !items.isEmpty { items.append(UInt8(ascii: " ")) }
            items.append(number: frame.minutes(stage.from))
            items.append(UInt8(ascii: ","))
            items.append(number: frame.minutes(stage.to))
            items.append(UInt8(ascii: ","))
            items.append(contentsOf: stage.depth.rawValue.utf8)
        }
        return items
    }

    private func timed(_ svg: inout SVGText, _ frame: PlotFrame, _ rows: [NightDepth]) {
        func middle(_ row: Int) -> Double { frame.top + (Double(row) + 0.5) * Self.rowHeight }
        var (blocks, steps) = (rows.map { _ in SVGPath() }, SVGPath())
        var last: (row: Int, to: Int64)?
        for stage in stages {
            guard let row = rows.firstIndex(of: stage.depth) else { continue }
            let start = frame.x(stage.from)
            // Stages that follow each other are joined, also over the second that some devices leave between them.
            if let last, last.row != row, stage.from - last.to <= 60_000 {
                steps.stroke(start, middle(last.row), start, middle(row))
            }
            let end = max(frame.x(stage.to), start + 0.6)
            blocks[row].rectangle(start, middle(row) - 9, end, middle(row) + 9)
            last = (row, stage.to)
        }
        svg.path(.steps, steps)
        for (row, depth) in rows.enumerated() {
            svg.path(depth.plotClass, blocks[row])
            let y = middle(row) + frame.layout.fontSize * 0.35
            svg.label(.label, depth.name, x: frame.left - 6, y: y, anchor: .end)
            svg.label(
                .value, PlotNumber.minutes(Int((timed[depth] ?? 0) / 60_000)), x: frame.layout.width - 4, y: y,
                anchor: .end)
        }
        if rows == [.inBed] {
            svg.label(
                .note, "asleep? not known", x: (frame.left + frame.right) / 2,
                y: middle(0) + frame.layout.fontSize * 0.35, anchor: .middle)
        }
    }

    /// A night without any stage: from when to when, and that nothing is known in between.
    private func box(_ svg: inout SVGText, _ frame: PlotFrame, _ totals: [NightDepth]) {
        var box = SVGPath()
        box.rectangle(frame.left, frame.top + 4, frame.right, frame.top + Self.rowHeight - 4)
        svg.path(.untimed, box)
        let note = totals.isEmpty ? "nothing known" : "how long, not when"
        svg.label(
            .note, note, x: (frame.left + frame.right) / 2,
            y: frame.top + Self.rowHeight / 2 + frame.layout.fontSize * 0.35, anchor: .middle)
        svg.label(
            .label, "Night", x: frame.left - 6, y: frame.top + Self.rowHeight / 2 + frame.layout.fontSize * 0.35,
            anchor: .end)
        svg.label(
            .value, PlotNumber.duration(axis.to - axis.from), x: frame.layout.width - 4,
            y: frame.top + Self.rowHeight / 2 + frame.layout.fontSize * 0.35, anchor: .end)
    }

    /// Minutes without times, as bars of their length. The longest possible one is the whole night.
    private func bars(_ svg: inout SVGText, _ frame: PlotFrame, _ totals: [NightDepth]) {
        let top = frame.bottom + frame.layout.fontSize + 30
        let note = stages.isEmpty ? "Minutes in all" : "Minutes beside these, without times"
        svg.label(.note, note, x: frame.left, y: top - 4)
        let longest = Double(max(totals.map { untimed[$0] ?? 0 }.max() ?? 1, Int((axis.to - axis.from) / 60_000), 1))
        for (row, depth) in totals.enumerated() {
            let (minutes, y) = (untimed[depth] ?? 0, top + Double(row) * 22)
            var bar = SVGPath()
            let end = frame.left + (frame.right - frame.left) * Double(minutes) / longest
            bar.rectangle(frame.left, y + 4, max(end, frame.left + 1), y + 18)
            svg.path(depth.plotClass, bar)
            let text = y + 11 + frame.layout.fontSize * 0.35
            svg.label(.label, depth.name, x: frame.left - 6, y: text, anchor: .end)
            svg.label(.value, PlotNumber.minutes(minutes), x: frame.layout.width - 4, y: text, anchor: .end)
        }
    }
}
