import GatewayKit
import Vitals

extension DeviceState {
    /// A page of history at a moment of the device's clock. It contains only records that have ended.
    mutating func page(_ request: HistoryRequest, at moment: Timestamp) throws(DeviceError) -> HistoryPage {
        guard capabilities.supports(.history, request.metric) else {
            throw .unsupported("the history of \(request.metric.rawValue)")
        }
        var position = HistoryPosition(start: request.from)
        if let page = request.page {
            guard let named = HistoryPosition(page) else {
                throw DeviceError(.invalid, "There is no page \(page); ask for the first one again.")
            }
            position = named
        }
        position.start = max(position.start, oldest(at: moment))
        let limit = min(max(request.limit, 1), HistoryRequest.maximumLimit)
        var collector = PageCollector(position: position, limit: limit)
        collect(
            request.metric, from: position.start, to: min(request.to, moment + .milliseconds(1)), at: moment, &collector
        )
        var page = collector.page
        if page.next == nil, strikes(options.faults.futureRecords),
            let future = spot(of: request.metric, at: moment + .days(1), isUserInitiated: false)
        {
            page.samples.append(future)
        }
        if page.next != nil, strikes(options.faults.duplicatePage) { page.next = position.text }
        return page
    }

    /// The start of the device's history.
    func oldest(at moment: Timestamp) -> Timestamp { moment - .days(options.historyDays) }

    /// All samples of a metric that start within a range and have ended.
    mutating func samples(of metric: Metric, from: Timestamp, to: Timestamp, at moment: Timestamp) -> [Sample] {
        var collector = PageCollector(position: HistoryPosition(start: from), limit: .max)
        collect(metric, from: from, to: to, at: moment, &collector)
        return collector.page.samples
    }

    /// Goes through the days until the page is full.
    private mutating func collect(
        _ metric: Metric, from: Timestamp, to: Timestamp, at moment: Timestamp, _ collector: inout PageCollector
    ) {
        guard from < to else { return }
        let calendar = bodies[0].calendar
        var day = calendar.day(of: from)
        let last = calendar.day(of: to - .milliseconds(1))
        while day <= last {
            let profile = bodies[0].profile(of: day)
            let window = (from..<to).clamped(to: profile.bounds)
            var records = records(of: metric, on: profile, within: window)
            let kept = measured.filter { $0.metric == metric && window.contains($0.start) }
            if !kept.isEmpty {
                records += kept.map { Record(from: $0.start, to: $0.end, .measured($0)) }
                records.sort { ($0.start, $0.end) < ($1.start, $1.end) }
            }
            for record in records where window.contains(record.start) && record.end <= moment {
                guard collector.wants(record) else { continue }
                guard let sample = sample(of: metric, record) else { continue }
                if !collector.add(sample, isCorrupt: isCorrupt(sample)) { return }
            }
            day = day.advanced(by: 1)
        }
    }
}

/// Fills one page, and determines whether there is another.
private struct PageCollector {
    /// The page so far.
    var page = HistoryPage(samples: [])
    private let position: HistoryPosition
    private let limit: Int
    private var taken = 0
    private var skipped = 0
    /// The newest start on the pages so far, and the number of records with it.
    private var last: HistoryPosition

    init(position: HistoryPosition, limit: Int) {
        self.position = position
        self.limit = limit
        last = position
    }

    /// Whether a record belongs on this page or a later one.
    func wants(_ record: Record) -> Bool { record.start >= position.start }

    /// Adds a record; returns `false` if the page is full and this record begins the next.
    mutating func add(_ sample: Sample, isCorrupt: Bool) -> Bool {
        if sample.start == position.start, skipped < position.skipped {
            skipped += 1
            return true
        }
        if taken == limit {
            page.next =
                HistoryPosition(start: sample.start, skipped: sample.start == last.start ? last.skipped : 0).text
            return false
        }
        taken += 1
        if sample.start != last.start { last = HistoryPosition(start: sample.start) }
        last.skipped += 1
        if isCorrupt { page.malformed += 1 } else { page.samples.append(sample) }
        return true
    }
}

/// The first record of a history page: a start, and the number of records with this start to skip. Its text is the
/// page's name.
struct HistoryPosition: Sendable, Hashable {
    /// The start of the page's first record.
    var start: Timestamp
    /// Records with this start that were on earlier pages.
    var skipped: Int

    /// The position of a request's first page.
    init(start: Timestamp, skipped: Int = 0) {
        self.start = start
        self.skipped = skipped
    }

    /// The position of a page's name, `nil` if the name is invalid.
    init?(_ text: String) {
        let parts = text.split(separator: "+", omittingEmptySubsequences: false)
        guard parts.count == 2, let start = Int64(parts[0]), let skipped = Int(parts[1]), skipped >= 0 else {
            return nil
        }
        self.init(start: Timestamp(milliseconds: start), skipped: skipped)
    }

    /// The page's name.
    var text: String { "\(start.milliseconds)+\(skipped)" }
}
