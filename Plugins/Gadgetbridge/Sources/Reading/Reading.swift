import Exports
import Vitals

/// What a feed reads: one wearable's rows of an export, in a range of time.
struct Reading {
    let database: ExportDatabase
    /// The wearable's number in the export.
    let device: Int64
    /// The earliest start of a sample.
    var from: Timestamp
    /// The first start that is too late.
    var to: Timestamp
    /// For values that belong to a local day.
    let calendar: LocalCalendar
    let leftovers: Leftovers
    /// The range whose rows are counted when they are left out, where more is read than asked for; `nil` for all.
    var counted: Range<Timestamp>?

    /// Counts a row that gives no sample.
    func leave(_ reason: Leftovers.Reason, in table: String, at moment: Timestamp) {
        if counted?.contains(moment) ?? true { leftovers.add(reason, in: table) }
    }

    /// The same for another range.
    func ranging(_ from: Timestamp, _ to: Timestamp) -> Reading {
        var copy = self
        (copy.from, copy.to) = (from, to)
        return copy
    }
}

/// A sample, and how it compares with another one for the same minute.
struct Candidate {
    var sample: Sample
    var rank: Rank
}

/// Which source counts where several describe the same minute or night.
enum Rank: Int, Sendable, Comparable {
    /// A value per minute, as a part of an activity row, or a night guessed by the app from such rows.
    case minutes
    /// A night by stages of the wearable, without a record of when it began.
    case stages
    /// A record with its own time.
    case records

    static func < (a: Rank, b: Rank) -> Bool { a.rawValue < b.rawValue }
}

/// Samples of one metric from one source, ascending by start.
protocol SampleStream: AnyObject {
    func next() throws(ExportError) -> Candidate?
}

/// A source of samples of one metric.
protocol Feed: Sendable {
    var metric: Metric { get }
    var table: String { get }
    func stream(_ reading: Reading) throws(ExportError) -> any SampleStream
}
