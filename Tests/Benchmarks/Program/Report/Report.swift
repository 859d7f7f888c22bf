import Foundation
import JSON

/// The figures, in the order of measurement, printed as they come.
struct Report {
    private(set) var figures: [Figure] = []
    /// Parts that failed or missed an aim, with the reason.
    private(set) var failures: [(part: String, reason: String)] = []

    mutating func add(_ figures: [Figure]) {
        for figure in figures { print(Self.line(figure)) }
        fflush(nil)
        self.figures += figures
    }

    mutating func fail(_ part: String, _ error: any Error) {
        failures.append((part, "\(error)"))
        print("\(part) failed: \(error)")
        fflush(nil)
    }

    /// Prints the column headings.
    static func begin() {
        print(header)
        fflush(nil)
    }

    private static let header = row(["figure", "ours", "aim", "reach", "bare loop", "ratio", ""])

    private static func line(_ figure: Figure) -> String {
        let aim =
            switch figure.aim {
            case .atLeast(let limit)?: "≥ " + text(limit)
            case .atMost(let limit)?: "≤ " + text(limit)
            case nil: ""
            }
        let verdict = figure.isMet.map { $0 ? "met" : "MISSED" } ?? ""
        return row([
            figure.title, "\(text(figure.value)) \(figure.unit)", aim, figure.reach.map(text) ?? "",
            figure.bare.map(text) ?? "", figure.ratio.map(text) ?? "",
            [verdict, figure.note ?? ""].filter { !$0.isEmpty }.joined(separator: "; "),
        ])
    }

    private static let widths = [60, 20, 10, 9, 10, 6, 0]

    private static func row(_ cells: [String]) -> String {
        zip(cells, widths).map { cell, width in
            cell + String(repeating: " ", count: max(0, width - cell.count))
        }.joined(separator: "  ")
    }

    /// The number with three significant digits; whole numbers from a hundred on.
    private static func text(_ number: Double) -> String {
        if number == number.rounded() || abs(number) >= 100 { return "\(Int(number.rounded()))" }
        return String(format: abs(number) >= 10 ? "%.1f" : "%.2f", number)
    }

    /// The report as JSON.
    func json(of settings: RunSettings) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("quick", settings.isQuick)
        writer.member("figures", array: figures) { writer, figure in
            writer.beginObject()
            writer.member("key", figure.key)
            writer.member("title", figure.title)
            writer.member("value", figure.value)
            writer.member("unit", figure.unit)
            switch figure.aim {
            case .atLeast(let limit)?: writer.member("at_least", limit)
            case .atMost(let limit)?: writer.member("at_most", limit)
            case nil: break
            }
            writer.member("met", figure.isMet)
            writer.member("bare", figure.bare)
            writer.member("ratio", figure.ratio)
            writer.member("note", figure.note)
            writer.endObject()
        }
        writer.member("failures", array: failures) { writer, failure in
            writer.beginObject()
            writer.member("part", failure.part)
            writer.member("reason", failure.reason)
            writer.endObject()
        }
        writer.endObject()
        writer.newline()
        return writer.bytes
    }
}
