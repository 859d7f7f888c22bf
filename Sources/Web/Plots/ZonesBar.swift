/// A workout's time in heart rate zones: one bar of its whole duration, and what each part of it is.
package struct ZonesBar: Sendable {
    /// The workout's name and time, such as `Running, 28 November 2026`.
    package var title: String
    /// A part of the bar.
    private struct Part {
        var name: String
        var plotClass: PlotClass
        var milliseconds: Int64
        /// Its heart rates, if they are known.
        var rates: String?
    }
    private let parts: [Part]
    private let total: Int64

    private static let classes: [PlotClass] = [.zone1, .zone2, .zone3, .zone4, .zone5]

    /// A bar of these zones.
    /// - Parameters:
    ///   - milliseconds: the time in each of the five zones, lowest first; further ones are left out.
    ///   - duration: the workout's duration in milliseconds. What is not in a zone was below them, or without a heart rate.
    ///   - maximum: the highest heart rate in exercise, in beats per minute, by which zones begin at 50, 60, 70, 80 and 90 per
    ///     cent; `nil` if only times are shown.
    package init(_ title: String, milliseconds: [Int64], duration: Int64, maximum: Double? = nil) {
        self.title = title
        // A year: no sum of six reaches beyond what a number holds.
        let longest: Int64 = 366 * PlotCalendar.millisecondsPerDay
        var parts = zip(Self.classes, milliseconds).enumerated().map { index, zone in
            Part(
                name: "Zone \(index + 1)", plotClass: zone.0, milliseconds: min(max(zone.1, 0), longest),
                rates: maximum.map { Self.rates(index, $0) })
        }
        let inZones = parts.reduce(0) { $0 + $1.milliseconds }
        let rest = min(max(duration, 0), longest) - inZones
        if rest >= 30_000 { parts.insert(Part(name: "No zone", plotClass: .zoneless, milliseconds: rest), at: 0) }
        self.parts = parts
        total = max(inZones + max(rest, 0), 1)
    }

    private static func rates(_ zone: Int, _ maximum: Double) -> String {
        // The first whole rate that is in the zone.
        func first(_ zone: Int) -> Int { Int((min(max(maximum, 0), 1000) * Double(zone + 5) / 10).rounded(.up)) }
        return zone == classes.count - 1 ? "from \(first(zone)) bpm" : "\(first(zone))–\(first(zone + 1) - 1) bpm"
    }

    /// Minutes as people say them; less than one is seconds.
    private static func text(_ milliseconds: Int64) -> String {
        (1..<60_000).contains(milliseconds)
            ? "\(max(milliseconds / 1000, 1)) s" : PlotNumber.minutes(Int((milliseconds + 30_000) / 60_000))
    }

    /// The plot as an `svg` element.
    package func svg(_ layout: PlotLayout) -> String {
        var svg = SVGText()
        let rowHeight = 21.0
        let height =
            layout.isWide ? (parts.contains { $0.rates != nil } ? 108 : 90) : 46 + Double(parts.count) * rowHeight
        PlotFrame.open(
            &svg, "zones", layout.plotClass, width: layout.width, height: height, fontSize: layout.fontSize)
        svg.markup(">")
        words.write(to: &svg)
        let (left, right) = (10.0, layout.width - 10)
        var x = left
        for part in parts where part.milliseconds > 0 {
            var path = SVGPath()
            let end = x + (right - left) * Double(part.milliseconds) / Double(total)
            path.rectangle(x, 8, max(end - 1, x + 0.6), 34)
            svg.path(part.plotClass, path)
            x = end
        }
        let column = (right - left) / Double(max(parts.count, 1))
        for (index, part) in parts.enumerated() {
            let place = layout.isWide ? left + Double(index) * column : left
            let y = layout.isWide ? 60 : 60 + Double(index) * rowHeight
            var swatch = SVGPath()
            swatch.rectangle(place, y - 10, place + 11, y + 1)
            svg.path(part.plotClass, swatch)
            svg.label(.label, part.name, x: place + 17, y: y)
            if let rates = part.rates {
                svg.label(.note, rates, x: layout.isWide ? place + 17 : place + 78, y: layout.isWide ? y + 36 : y)
            }
            if layout.isWide {
                svg.label(.value, Self.text(part.milliseconds), x: place + 17, y: y + 18)
            } else {
                svg.label(.value, Self.text(part.milliseconds), x: right, y: y, anchor: .end)
            }
        }
        svg.markup("</svg>")
        return svg.string
    }

    private var words: PlotWords {
        var words = PlotWords(title: "\(title): heart rate zones")
        for part in parts {
            let share = Int((Double(part.milliseconds) / Double(total) * 100).rounded())
            words.add("\(part.name)\(part.rates.map { " (\($0))" } ?? "") \(Self.text(part.milliseconds)), \(share) %")
        }
        return words
    }
}
