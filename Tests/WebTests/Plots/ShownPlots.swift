import TestSupport
import Vitals

@testable import Web

/// Axes and plots for tests, in the time of Berlin in 2026, and what is read from a plot.
enum ShownPlots {
    static func calendar(_ identifier: String = "Europe/Berlin") throws -> LocalCalendar {
        guard let calendar = LocalCalendar(identifier: identifier) else { throw Unexpected(text: identifier) }
        return calendar
    }

    static func day(_ text: String) throws -> LocalDay {
        guard let day = LocalDay(text) else { throw Unexpected(text: text) }
        return day
    }

    static func moment(_ text: String) throws -> Timestamp {
        guard let moment = Timestamp(rfc3339: text) else { throw Unexpected(text: text) }
        return moment
    }

    /// An axis of the period with a date.
    static func axis(_ period: PlotPeriod, _ date: String = "2026-11-28") throws -> TimeAxis {
        TimeAxis(period, containing: try day(date), in: try calendar())
    }

    /// Values that differ, one every so many minutes, over the whole axis.
    static func values(
        _ axis: TimeAxis, everyMinutes minutes: Int64 = 5, until end: Int64 = .max, skipping gaps: [Range<Int64>] = []
    ) -> PlotBuckets {
        var values = PlotBuckets(axis)
        var random = SplitMix64(seed: 30)
        for moment in stride(from: axis.from, to: min(axis.to, end), by: Int64.Stride(minutes * 60_000))
        where !gaps.contains(where: { $0.contains(moment) }) {
            values.add(Double(Int.random(in: 50...150, using: &random)), at: moment)
        }
        return values
    }

    /// The values of an attribute, in order.
    static func attributes(_ name: String, in svg: String) -> [String] {
        parts(of: svg[...], after: " \(name)=\"").map { String($0.prefix { $0 != "\"" }) }
    }

    /// The commands of the path of a class; empty if there is none.
    static func path(_ plotClass: PlotClass, in svg: String) -> String {
        guard let element = parts(of: svg[...], after: "<path class=\"\(plotClass.rawValue)\"").first,
            let commands = parts(of: element, after: " d=\"").first
        else { return "" }
        return String(commands.prefix { $0 != "\"" })
    }

    /// The texts of a class, in order.
    static func texts(_ plotClass: PlotClass, in svg: String) -> [String] {
        parts(of: svg[...], after: "<text class=\"\(plotClass.rawValue)\"").map { element in
            String(element.drop { $0 != ">" }.dropFirst().prefix { $0 != "<" })
        }
    }

    /// The description.
    static func description(of svg: String) -> String {
        parts(of: svg[...], after: "<desc>").first.map { String($0.prefix { $0 != "<" }) } ?? ""
    }

    /// What follows each occurrence of a mark.
    private static func parts(of text: Substring, after mark: String) -> [Substring] {
        text.ranges(of: mark).map { text[$0.upperBound...] }
    }
}

extension String {
    /// How often a character occurs.
    func count(of character: Character) -> Int { count { $0 == character } }
}
