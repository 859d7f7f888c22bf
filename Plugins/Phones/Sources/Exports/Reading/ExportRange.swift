package import Vitals

/// The range of a feed: one wearable's rows of an export, between two times.
package struct ExportRange {
    package let database: ExportDatabase
    /// The wearable's number in the export.
    package let device: Int64
    /// The earliest start of a sample.
    package var from: Timestamp
    /// The first start that is too late.
    package var to: Timestamp
    /// For values that belong to a local day.
    package let calendar: LocalCalendar
    package let skippedRows: SkippedRows
    /// The range whose rows are counted when they are skipped, where more is read than asked for; `nil` for all.
    package var counted: Range<Timestamp>?
    /// Whether rows without a value give samples that take back what an earlier export had in their places.
    package var takesBack = false

    package init(
        database: ExportDatabase, device: Int64, from: Timestamp, to: Timestamp, calendar: LocalCalendar,
        skippedRows: SkippedRows
    ) {
        self.database = database
        self.device = device
        self.from = from
        self.to = to
        self.calendar = calendar
        self.skippedRows = skippedRows
    }

    /// Counts a row that gives no sample.
    /// - Parameter limit: what it is beyond, for `tooMany`.
    package func skip(_ reason: SkippedRows.Reason, in table: String, at moment: Timestamp, limit: Int? = nil) {
        if counted?.contains(moment) ?? true { skippedRows.add(reason, in: table, limit: limit) }
    }

    /// The same for another range.
    package func ranging(_ from: Timestamp, _ to: Timestamp) -> ExportRange {
        var copy = self
        (copy.from, copy.to) = (from, to)
        return copy
    }
}

/// A sample, and how it compares with another one for the same minute.
package struct Candidate {
    package var sample: Sample
    package var rank: Rank

    package init(sample: Sample, rank: Rank) { (self.sample, self.rank) = (sample, rank) }
}

/// Which source counts where several describe the same minute or night.
package enum Rank: Int, Sendable, Comparable {
    /// A value per minute, as a part of an activity row, or a night guessed by the app from such rows.
    case minutes
    /// A night by stages of the wearable, without a record of when it began.
    case stages
    /// A record with its own time.
    case records

    package static func < (a: Rank, b: Rank) -> Bool { a.rawValue < b.rawValue }
}

/// Samples of one metric from one source, ascending by start.
package protocol SampleStream: AnyObject {
    func next() throws(ExportError) -> Candidate?
}

/// A source of samples of one metric.
package protocol Feed: Sendable {
    var metric: Metric { get }
    /// The tables whose rows become samples, each once.
    var tables: [String] { get }
    func stream(_ reading: ExportRange) throws(ExportError) -> any SampleStream
}

extension Feed {
    /// Its tables, for people.
    package var place: String { tables.joined(separator: ", ") }
}
