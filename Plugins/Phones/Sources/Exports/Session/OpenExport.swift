package import GatewayKit
package import Vitals

/// An export that was read as a whole, with what follows from it.
package struct OpenExport {
    package let database: ExportDatabase
    package let device: ExportedDevice
    /// What its samples are, by metric.
    package let extents: [Metric: Extent]
    package let skippedRows: [String: [SkippedRows.Reason: Int]]
    /// The limits that rows of a table are beyond.
    package let limits: [String: Int]
    package let digests: Digests

    /// Before it there were no wearables: 2000-01-01. Earlier rows have the time of a clock that was never set.
    package static let earliest = Timestamp(seconds: 946_684_800)
    /// Rows of the future are those of a wrong clock, too; they are read once their time has come.
    package static let future: Duration = .minutes(5)

    /// How many samples there are, and when they begin.
    package struct Extent: Sendable, Hashable {
        package var count = 0
        package var first: Timestamp
        package var last: Timestamp
    }

    /// Copies, checks and reads the file.
    /// - Throws: an error that names it.
    package init(
        _ stamp: FileStamp, _ format: some ExportFormat, _ context: SessionContext
    ) throws(ExportError) {
        do throws(ExportError) {
            let database = try ExportDatabase(copying: stamp, entry: type(of: format).entry)
            try self.init(
                database, try format.device(in: database), calendar: context.calendar, now: context.clock.now)
        } catch { throw error.of(stamp.path) }
    }

    /// Reads what an export has of a device.
    package init(
        _ database: ExportDatabase, _ device: ExportedDevice, calendar: LocalCalendar, now: Timestamp
    ) throws(ExportError) {
        self.database = database
        self.device = device
        let found = SkippedRows()
        for (table, reasons) in device.skippedRows {
            for (reason, count) in reasons { found.add(reason, in: table, count: count) }
        }
        var digests = Digests()
        var extents: [Metric: Extent] = [:]
        for (metric, feeds) in device.feeds {
            let reading = ExportRange(
                database: database, device: device.number, from: Self.earliest, to: now + Self.future,
                calendar: calendar, skippedRows: found)
            let reader = try MetricReader(feeds, reading)
            var extent: Extent?
            while let sample = try reader.next() {
                if Task.isCancelled {
                    throw ExportError(.unavailable, "The reading of \(metric.rawValue) was cancelled.")
                }
                digests.add(sample)
                extent = Extent(
                    count: (extent?.count ?? 0) + 1, first: extent?.first ?? sample.start, last: sample.start)
            }
            extents[metric] = extent
        }
        self.digests = digests
        self.extents = extents
        (skippedRows, limits) = (found.counts, found.limits)
    }

    /// What to do where an export has no record of a device.
    static func emptiness(of path: String) -> String {
        "\(path) has no record of this device that the gateway reads. The command vitals2mqtt sources \(path) says what it has."
    }

    /// What the device says of itself.
    package var identity: DeviceIdentity { device.identity }
    /// The newest charge of its battery.
    package var battery: ExportedDevice.Charge? { device.battery }
    /// The metrics of the export.
    package var capabilities: Capabilities { device.capabilities }

    /// A page of a metric's samples.
    /// - Parameter takesBack: whether it also has what takes back the values of rows that have none any more.
    package func page(
        _ request: HistoryRequest, calendar: LocalCalendar, now: Timestamp, takesBack: Bool = false
    ) throws(ExportError) -> HistoryPage {
        guard let feeds = device.feeds[request.metric] else { return HistoryPage(samples: []) }
        let position = request.page.flatMap(PagePosition.init) ?? PagePosition(start: request.from)
        let limit = min(max(request.limit, 1), HistoryRequest.maximumLimit)
        var reading = ExportRange(
            database: database, device: device.number, from: max(position.start, request.from, Self.earliest),
            to: min(request.to, now + Self.future),
            calendar: calendar, skippedRows: SkippedRows())
        reading.takesBack = takesBack
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
