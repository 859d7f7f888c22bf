import Testing

@testable import Web

/// Markup, text, numbers and paths of plots.
@Suite struct SVGTextTests {
    private func text(_ text: String) -> String {
        var svg = SVGText()
        svg.text(text)
        return svg.string
    }

    @Test func `text is escaped for content and attributes, without characters that XML does not have`() {
        #expect(text("<b a='1' c=\"2\"> & é °C 心") == "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt; &amp; é °C 心")
        #expect(text("a\u{0}b\nc\u{7f}d\u{85}e\u{fffe}f") == "a b c d e f")
        #expect(text("a\u{202e}b\u{2066}c") == "a b c")
    }

    @Test func `a long text is cut, also one of marks above a single letter`() {
        #expect(text(String(repeating: "x", count: SVGText.maximumScalars)).count == SVGText.maximumScalars)
        #expect(text(String(repeating: "x", count: SVGText.maximumScalars + 1)).count == SVGText.maximumScalars)
        let marks = "x" + String(repeating: "\u{301}", count: 10_000)
        #expect(text(marks).unicodeScalars.count == SVGText.maximumScalars)
    }

    @Test func `coordinates have one decimal at most, and rounding does not add up`() {
        var path = SVGPath()
        path.move(0.04, -0.56)
        for index in 1...10 { path.line(Double(index) * 0.14, 100) }
        path.close()
        let text = String(decoding: path.bytes, as: UTF8.self)
        #expect(text.hasPrefix("M0-0.6l0.1 100.6 0.2 0 0.1 0"))
        // Ten steps of 0.14 end at 1.4, and not at ten times 0.1.
        let steps = text.dropFirst("M0-0.6l".count).dropLast().split(separator: " ").enumerated()
        let sum = steps.filter { $0.offset % 2 == 0 }.compactMap { Double($0.element) }.reduce(0, +)
        #expect((sum - 1.4).magnitude < 0.001)
    }

    @Test(arguments: [
        (Double.nan, "0"), (.infinity, "1000000"), (-.infinity, "-1000000"), (-0.04, "0"), (-0.05, "-0.1"),
    ])
    func `a coordinate that is no number does not leave the plot`(value: Double, written: String) {
        var svg = SVGText()
        svg.attribute("x", value)
        #expect(svg.string == " x=\"\(written)\"")
    }

    @Test(arguments: [
        (0, 0, "0"), (12_345.678, 0, "12,346"), (12_345.678, 1, "12,345.7"), (-1_000, 0, "-1,000"), (0.05, 1, "0.1"),
        (-0.5, 1, "-0.5"), (36.6, 1, "36.6"), (999, 0, "999"), (.nan, 1, "0.0"), (1e300, 0, "1,000,000,000"),
        (2, 9, "2.000"),
    ]) func `numbers have their decimals, and commas between thousands`(value: Double, decimals: Int, written: String) {
        #expect(PlotNumber.text(value, decimals: decimals) == written)
    }

    @Test(arguments: [(8_213, "8,213"), (12_345, "12.3k"), (999_499, "999.5k"), (1_250_000, "1.3M"), (7.25, "7.3")])
    func `above bars large numbers are short`(value: Double, written: String) {
        #expect(PlotNumber.short(value, decimals: 1) == written)
    }

    @Test func `durations are hours and minutes, and long ones days and hours`() {
        #expect(PlotNumber.minutes(45) == "45 min")
        #expect(PlotNumber.minutes(425) == "7 h 5 min")
        #expect(PlotNumber.minutes(480) == "8 h")
        #expect(PlotNumber.duration(86_400_000 + 4 * 3_600_000) == "1 day 4 h")
        #expect(PlotNumber.duration(3 * 86_400_000) == "3 days")
    }
}
