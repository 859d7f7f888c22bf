import Vitals

/// A value that holds for a local day. It is published when it changes, not as often as the export repeats it.
struct DailyFeed: Feed {
    private let rows: RowFeed

    init(of rows: RowFeed) { self.rows = rows }

    var metric: Metric { rows.metric }
    var tables: [String] { rows.tables }

    func stream(_ reading: ExportRange) throws(ExportError) -> any SampleStream {
        // From the beginning of its day, so that a value is the first one wherever a page begins.
        let day = reading.calendar.day(of: reading.from)
        let start = min(reading.calendar.bounds(of: day).lowerBound, reading.from)
        return DailyStream(try rows.stream(reading.ranging(start, reading.to)), reading.calendar)
    }
}

/// Drops values that repeat the one before them on the same local day.
private final class DailyStream: SampleStream {
    private let rows: any SampleStream
    private let calendar: LocalCalendar
    private var last: (day: LocalDay, reading: Reading)?
    private var period: OffsetPeriod?

    init(_ rows: any SampleStream, _ calendar: LocalCalendar) {
        self.rows = rows
        self.calendar = calendar
    }

    func next() throws(ExportError) -> Candidate? {
        while let candidate = try rows.next() {
            let sample = candidate.sample
            if sample.claim == .correction { return candidate }
            if period?.range.contains(sample.start) != true { period = calendar.offset(at: sample.start) }
            guard let day = period?.day(of: sample.start) else { continue }
            if let last, last.day == day, last.reading == sample.reading { continue }
            last = (day, sample.reading)
            return candidate
        }
        return nil
    }
}
