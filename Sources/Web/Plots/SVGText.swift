/// Writes SVG as bytes: markup that stands in the code, numbers, and text that is escaped.
///
/// Text of others has no way in but `text`, since markup is a `StaticString`.
struct SVGText {
    /// No plot takes more bytes than this in one layout: a page with a dozen plots in two layouts stays below what a phone loads
    /// and lays out at once.
    static let maximumBytes = 64 * 1024
    /// Longer texts are cut, in Unicode scalars: names of devices and activities come from elsewhere.
    static let maximumScalars = 200

    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(16 * 1024) }

    /// All of it as a string.
    var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Appends markup of ours.
    mutating func markup(_ markup: StaticString) {
        markup.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Appends a text, escaped for content and for attributes in double quotes. Characters that XML does not have become spaces.
    mutating func text(_ text: String) {
        for scalar in text.unicodeScalars.prefix(Self.maximumScalars) {
            switch scalar {
            case "&": markup("&amp;")
            case "<": markup("&lt;")
            case ">": markup("&gt;")
            case "\"": markup("&quot;")
            case "'": markup("&#39;")
            case "\u{0}"..<" ", "\u{7f}"..."\u{9f}", "\u{fffe}"..."\u{ffff}": markup(" ")
            // What turns the direction of a text would turn that of the page.
            case "\u{202a}"..."\u{202e}", "\u{2066}"..."\u{2069}": markup(" ")
            default: bytes.append(contentsOf: scalar.utf8)
            }
        }
    }

    /// Opens an element of a class, with what the class looks like without a style sheet. It is closed by `close`.
    mutating func open(_ name: StaticString, _ plotClass: PlotClass) {
        markup("<")
        markup(name)
        markup(" class=\"")
        bytes.append(contentsOf: plotClass.rawValue.utf8)
        markup("\"")
        if plotClass.looks.utf8CodeUnitCount > 0 {
            markup(" ")
            markup(plotClass.looks)
        }
    }

    /// Ends an element without content.
    mutating func close() { markup("/>") }

    /// Appends an attribute with a number, to one decimal.
    mutating func attribute(_ name: StaticString, _ value: Double) {
        begin(name)
        bytes.append(tenths: Self.tenths(value))
        markup("\"")
    }

    /// Appends an attribute with a text.
    mutating func attribute(_ name: StaticString, _ value: String) {
        begin(name)
        text(value)
        markup("\"")
    }

    /// Appends an attribute with what numbers and names of ours make up.
    mutating func attribute(_ name: StaticString, bytes value: [UInt8]) {
        begin(name)
        bytes.append(contentsOf: value)
        markup("\"")
    }

    /// Appends bytes that need no escaping: numbers and names of ours.
    mutating func append(_ plain: [UInt8]) { bytes.append(contentsOf: plain) }

    private mutating func begin(_ name: StaticString) {
        markup(" ")
        markup(name)
        markup("=\"")
    }

    /// A whole `path`; nothing if it draws nothing.
    mutating func path(_ plotClass: PlotClass, _ path: SVGPath, strokeWidth: Double? = nil) {
        guard !path.bytes.isEmpty else { return }
        open("path", plotClass)
        if let strokeWidth { attribute("stroke-width", strokeWidth) }
        attribute("d", bytes: path.bytes)
        close()
    }

    /// Where a text stands to its point.
    enum Anchor { case start, middle, end }

    /// A whole `text`.
    mutating func label(_ plotClass: PlotClass, _ label: String, x: Double, y: Double, anchor: Anchor = .start) {
        open("text", plotClass)
        attribute("x", x)
        attribute("y", y)
        switch anchor {
        case .start: break
        case .middle: markup(" text-anchor=\"middle\"")
        case .end: markup(" text-anchor=\"end\"")
        }
        markup(">")
        text(label)
        markup("</text>")
    }

    /// A whole circle.
    mutating func circle(_ plotClass: PlotClass, x: Double, y: Double, radius: Double) {
        open("circle", plotClass)
        attribute("cx", x)
        attribute("cy", y)
        attribute("r", radius)
        close()
    }

    /// A coordinate in tenths of a unit; 0 for what is no number, and within a million units.
    static func tenths(_ value: Double) -> Int {
        value.isNaN ? 0 : Int((min(max(value, -1e6), 1e6) * 10).rounded())
    }
}

/// The commands of a path, in tenths of a unit and relative, so that they are short. Rounding does not add up.
struct SVGPath {
    private(set) var bytes: [UInt8] = []
    private var x = 0
    private var y = 0
    /// Whether the last command was a line, which further ones continue without a letter.
    private var isLine = false

    /// Begins a figure at a point.
    mutating func move(_ newX: Double, _ newY: Double) {
        (x, y) = (SVGText.tenths(newX), SVGText.tenths(newY))
        bytes.append(UInt8(ascii: "M"))
        bytes.append(tenths: x)
        separate(y)
        bytes.append(tenths: y)
        isLine = false
    }

    /// A line to a point.
    mutating func line(_ newX: Double, _ newY: Double) {
        let (toX, toY) = (SVGText.tenths(newX), SVGText.tenths(newY))
        let (dx, dy) = (toX - x, toY - y)
        guard dx != 0 || dy != 0 else { return }
        (x, y) = (toX, toY)
        if isLine { separate(dx) } else { bytes.append(UInt8(ascii: "l")) }
        isLine = true
        bytes.append(tenths: dx)
        separate(dy)
        bytes.append(tenths: dy)
    }

    /// Closes the figure.
    mutating func close() {
        bytes.append(UInt8(ascii: "z"))
        isLine = false
    }

    /// A dot: with round ends, a line without a length is one.
    mutating func dot(_ x: Double, _ y: Double) {
        move(x, y)
        bytes.append(contentsOf: "h0".utf8)
    }

    /// A line from one point to another.
    mutating func stroke(_ x0: Double, _ y0: Double, _ x1: Double, _ y1: Double) {
        move(x0, y0)
        line(x1, y1)
    }

    /// A rectangle.
    mutating func rectangle(_ x0: Double, _ y0: Double, _ x1: Double, _ y1: Double) {
        move(x0, y0)
        line(x1, y0)
        line(x1, y1)
        line(x0, y1)
        close()
    }

    /// A minus sign separates by itself.
    private mutating func separate(_ next: Int) {
        if next >= 0 { bytes.append(UInt8(ascii: " ")) }
    }
}

extension [UInt8] {
    /// Appends a whole number.
    mutating func append(number: Int) {
        if number < 0 { append(UInt8(ascii: "-")) }
        var rest = number.magnitude
        let start = count
        repeat {
            append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        self[start...].reverse()
    }

    /// Appends a number of tenths, without a fraction of zero.
    mutating func append(tenths: Int) {
        if tenths < 0, tenths > -10 { append(UInt8(ascii: "-")) }
        append(number: tenths / 10)
        let digit = (tenths % 10).magnitude
        guard digit > 0 else { return }
        append(UInt8(ascii: "."))
        append(UInt8(ascii: "0") + UInt8(digit))
    }

    /// Appends a number with at most so many decimals, without zeros at the end; 0 for what is no number.
    mutating func append(_ value: Double, decimals: Int) {
        let places = Swift.min(Swift.max(decimals, 0), PlotNumber.maximumDecimals)
        var scaled = PlotNumber.scaled(value, decimals: places)
        var left = places
        while left > 0, scaled % 10 == 0 {
            scaled /= 10
            left -= 1
        }
        append(contentsOf: PlotNumber.text(scaled, decimals: left, isGrouped: false).utf8)
    }
}
