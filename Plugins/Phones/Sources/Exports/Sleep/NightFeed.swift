package import Vitals

/// A source of nights. Of two that overlap, the one with stages counts before one without, and then the wearable's own before one that
/// is made of minutes.
package protocol NightFeed: Sendable {
    /// The table whose rows become nights.
    var table: String { get }
    var rank: Rank { get }
    /// The nights that begin in a range of at most some months, ascending.
    func nights(_ reading: ExportRange) throws(ExportError) -> [Sample]
}

/// Limits of nights.
package enum NightLimits {
    /// The longest night. A longer one is a wearable that lies in a drawer and counts as asleep.
    package static let night: Duration = .days(1)
    /// The pause between two rows that ends a night made of minutes.
    package static let pause: Duration = .minutes(60)
    /// The pause that ends a night where each row is a change of stage: longer than any stage of sleep, which comes in cycles of an
    /// hour and a half.
    package static let stage: Duration = .hours(2)
    /// How near to a night with bounds of its own further rows are only a rest of it: the length of a row.
    package static let seam: Duration = .minutes(1)
    /// The most sleeps that begin on one day of UTC: one an hour. The others are skipped, and counted.
    package static let perDay = 24
}

/// Counts the records of each day, which come ascending, so that those of a day have a limit.
package struct RecordsOfDay {
    private let limit: Int
    private var day: Int64?
    private var count = 0

    /// - Parameter limit: the most records that begin on one day of UTC.
    package init(limit: Int) { self.limit = limit }

    /// Whether another record of this day is read.
    package mutating func admits(_ start: Timestamp) -> Bool {
        let number = start.milliseconds / Duration.days(1).inMilliseconds
        count = number == day ? count + 1 : 1
        day = number
        return count <= limit
    }
}

/// Nights of all sources, ascending, each once.
final class NightStream: SampleStream {
    /// How much is read at once: `NightLimits.perDay` sleeps of each day are in memory at most.
    private static let window: Duration = .days(30)

    private let feeds: [any NightFeed]
    private let reading: ExportRange
    private var position: Timestamp
    private var ready: [Sample] = []

    init(_ feeds: [any NightFeed], _ reading: ExportRange) {
        self.feeds = feeds
        self.reading = reading
        position = reading.from
    }

    func next() throws(ExportError) -> Candidate? {
        while ready.isEmpty {
            guard position < reading.to else { return nil }
            let end = min(position + Self.window, reading.to)
            ready = try nights(from: position, to: end).reversed()
            position = end
        }
        return ready.popLast().map { Candidate(sample: $0, rank: .records) }
    }

    /// The nights of a window, without those that overlap a night that says more, or one of a better source that says as much.
    private func nights(from: Timestamp, to: Timestamp) throws(ExportError) -> [Sample] {
        // A better night may begin before the window or after it.
        var wide = reading.ranging(from - NightLimits.night, to + NightLimits.night)
        wide.counted = from..<to
        var found: [(worth: (Sleep.Detail, Rank), sample: Sample)] = []
        for feed in feeds { found += try feed.nights(wide).map { ((Self.detail(of: $0), feed.rank), $0) } }
        let kept = found.filter { night in
            night.sample.start >= from && night.sample.start < to
                && !found.contains {
                    $0.worth > night.worth && $0.sample.start < night.sample.end && night.sample.start < $0.sample.end
                }
        }
        return kept.map(\.sample).sorted { ($0.start, $0.end) < ($1.start, $1.end) }
    }

    private static func detail(of night: Sample) -> Sleep.Detail {
        if case .sleep(let sleep) = night.reading { sleep.detail } else { .inBed }
    }
}

/// All nights of a wearable as one feed.
package struct SleepFeed: Feed {
    package let metric = Metric.sleep
    private let feeds: [any NightFeed]

    package init(feeds: [any NightFeed]) { self.feeds = feeds }

    package var tables: [String] {
        feeds.reduce(into: []) { tables, feed in
            if !tables.contains(feed.table) { tables.append(feed.table) }
        }
    }

    package func stream(_ reading: ExportRange) throws(ExportError) -> any SampleStream { NightStream(feeds, reading) }
}
