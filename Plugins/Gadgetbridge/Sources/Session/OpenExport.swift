import Exports
import GatewayKit
import Vitals

/// An export that was read as a whole, with what follows from it.
struct OpenExport {
    let database: ExportDatabase
    let wearable: Wearable
    let catalogue: Catalogue
    let identity: DeviceIdentity
    let battery: (percent: Double, at: Timestamp)?
    let digests: Digests
    let leftovers: [String: [Leftovers.Reason: Int]]

    /// Before it there were no wearables: 2000-01-01. Earlier rows have the time of a clock that was never set.
    static let earliest = Timestamp(seconds: 946_684_800)
    /// Rows of the future are those of a wrong clock, too; they are read once their time has come.
    static let future: Duration = .minutes(5)

    /// Copies, checks and reads the file.
    init(_ stamp: FileStamp, _ options: GadgetbridgeOptions, _ context: SessionContext) throws(ExportError) {
        database = try ExportDatabase(copying: stamp, entry: GadgetbridgeOptions.entry)
        wearable = try Wearable.named(options.device, in: database)
        catalogue = try Catalogue(database, device: wearable.number)
        identity = try wearable.identity(in: database)
        battery = try wearable.battery(in: database)
        let found = Leftovers()
        var digests = Digests()
        for (metric, feeds) in catalogue.feeds {
            let reading = Reading(
                database: database, device: wearable.number, from: Self.earliest, to: context.clock.now + Self.future,
                calendar: context.calendar, leftovers: found)
            let reader = try MetricReader(feeds, reading)
            while let sample = try reader.next() {
                if Task.isCancelled {
                    throw ExportError(.unavailable, "The reading of \(metric.rawValue) was cancelled.")
                }
                digests.add(sample)
            }
        }
        self.digests = digests
        leftovers = found.counts
    }

    /// A page of a metric's samples.
    func page(
        _ request: HistoryRequest, calendar: LocalCalendar, now: Timestamp
    ) throws(ExportError) -> HistoryPage {
        guard let feeds = catalogue.feeds[request.metric] else { return HistoryPage(samples: []) }
        let position = request.page.flatMap(PagePosition.init) ?? PagePosition(start: request.from)
        let limit = min(max(request.limit, 1), HistoryRequest.maximumLimit)
        let reading = Reading(
            database: database, device: wearable.number, from: max(position.start, request.from),
            to: min(request.to, now + Self.future),
            calendar: calendar, leftovers: Leftovers())
        let reader = try MetricReader(feeds, reading)
        var page = HistoryPage(samples: [])
        var next = position
        var skipped = 0
        while let sample = try reader.next() {
            if sample.start == position.start, skipped < position.skipped {
                skipped += 1
                continue
            }
            if page.samples.count == limit {
                page.next = next.text
                break
            }
            page.samples.append(sample)
            next =
                sample.start == next.start
                ? PagePosition(start: next.start, skipped: next.skipped + 1)
                : PagePosition(start: sample.start, skipped: 1)
        }
        return page
    }
}

/// Where a page begins: a start, and how many samples with that start were on the pages before.
struct PagePosition: Hashable {
    var start: Timestamp
    var skipped = 0

    init(start: Timestamp, skipped: Int = 0) {
        self.start = start
        self.skipped = skipped
    }

    /// `nil` for a name that is none of ours.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let start = Int64(parts[0]), let skipped = Int(parts[1]), skipped >= 0 else {
            return nil
        }
        self.init(start: Timestamp(milliseconds: start), skipped: skipped)
    }

    var text: String { "\(start.milliseconds).\(skipped)" }
}
