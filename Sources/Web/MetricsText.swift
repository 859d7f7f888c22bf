/// A metric as Prometheus knows it: all rows of one name, with one help text and one type.
///
/// Names follow its conventions: base units in the name (`_seconds`, `_bytes`, `_ratio`), and `_total` for what only rises.
package struct MetricFamily: Sendable, Hashable {
    /// The type of a metric. The raw value is its name in the text.
    package enum Kind: String, Sendable, Hashable { case counter, gauge }

    package let name: String
    package let kind: Kind
    /// One sentence.
    package let help: String

    package init(_ name: String, _ help: String, kind: Kind = .gauge) {
        self.name = "vitals2mqtt_" + name
        self.kind = kind
        self.help = help
    }
}

/// Takes the rows of metrics.
protocol MetricRows {
    /// About the bytes of all rows so far.
    var size: Int { get }
    /// Adds a row. A value that is no number is left out.
    /// - Parameter labels: names of our own, which need no escaping, and values.
    mutating func add(_ family: MetricFamily, _ value: Double, _ labels: KeyValuePairs<StaticString, String>)
}

extension MetricRows {
    /// Adds the only row of a family.
    mutating func add(_ family: MetricFamily, _ value: Double) { add(family, value, [:]) }
}

/// Writes metrics in the text format of Prometheus, version 0.0.4.
package struct MetricsText: MetricRows, Sendable {
    /// The media type of the text.
    package static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    private var rows: [MetricFamily: String] = [:]
    /// The families, in the order in which their first rows came.
    private var order: [MetricFamily] = []
    /// The bytes of all rows so far.
    package private(set) var size = 0

    package init() {}

    package mutating func add(_ family: MetricFamily, _ value: Double, _ labels: KeyValuePairs<StaticString, String>) {
        guard value.isFinite else { return }
        var row = family.name
        if !labels.isEmpty {
            let pairs = labels.map { "\($0.key)=\"\(Self.escaped($0.value, quotes: true))\"" }
            row += "{\(pairs.joined(separator: ","))}"
        }
        row += " \(Self.number(value))\n"
        size += row.utf8.count
        if rows[family] == nil {
            order.append(family)
            rows[family] = ""
        }
        rows[family]?.append(row)
    }

    /// The whole text: each family once, with its help and its type before its rows.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size + order.count * 200)
        for family in order {
            bytes += "# HELP \(family.name) \(Self.escaped(family.help, quotes: false))\n".utf8
            bytes += "# TYPE \(family.name) \(family.kind.rawValue)\n".utf8
            bytes += (rows[family] ?? "").utf8
        }
        return bytes
    }

    /// A number without a fraction if it is a whole one. Counts beyond 2^53 have none.
    private static func number(_ value: Double) -> String {
        Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }

    /// Backslashes and line feeds are escaped, and quotes in the value of a label.
    private static func escaped(_ text: String, quotes: Bool) -> String {
        guard
            text.utf8.contains(where: {
                $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\"")
            })
        else { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
