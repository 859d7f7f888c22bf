import GatewayKit
import Vitals

/// One metric's history while it is read: what is on disk, and how far the cursor may move.
struct SyncReading: Sendable {
    var request: HistoryRequest
    /// The name of the next page.
    var next: String?
    /// Number of records in the future, left out for now.
    private(set) var postponed = 0
    /// Implausible records, left out.
    private(set) var refused = Refusals()
    /// Those refused that no previous synchronisation has met.
    private(set) var newlyRefused = Refusals()
    /// Number of those refused without a plausible time.
    private(set) var timeless: [RefusalReason: Int] = [:]
    /// The start of the newest record on disk before which everything is on disk.
    private var durable: Timestamp?
    /// Like `durable`, but before the newest start, as the next page may begin with more records of the same start.
    private(set) var whole: Timestamp?

    private var cursor: Timestamp?
    private let isContiguous: Bool
    private var pages = 0
    private var emptyPages = 0
    /// Hashes of all page names so far; the names themselves may be long.
    private var names: Set<Int> = []
    private var last: [Sample] = []
    private var firstPostponed: Timestamp?
    /// The newest start in the page being stored, and the one before it.
    private var underWay: (newest: Timestamp, before: Timestamp?)?
    /// Latest start of records that were refused before.
    private let refusedThrough: Timestamp?

    /// - Parameter isContiguous: whether nothing unread lies between cursor and range, so that the cursor may move and
    ///   records may be acknowledged.
    /// - Parameter refusedThrough: latest start of records that were refused before.
    init(request: HistoryRequest, cursor: Timestamp?, isContiguous: Bool, refusedThrough: Timestamp?) {
        self.refusedThrough = refusedThrough
        self.request = request
        self.cursor = cursor
        self.isContiguous = isContiguous
    }

    /// Describes a page that would make reading go on for ever; `nil` if the page is fine.
    func mistake(in page: HistoryPage) -> String? {
        if let next = page.next, names.contains(next.hashValue) || next == request.page {
            return "The device names a page that it already sent as the next one."
        }
        if !page.samples.isEmpty, page.samples == last {
            return "The device sends the same page again and again."
        }
        if page.next != nil, pages + 1 >= SyncPolicy.maximumPages {
            return "The device sent \(SyncPolicy.maximumPages) pages and there is still no end."
        }
        if page.isEmpty, page.next != nil, emptyPages >= SyncPolicy.maximumEmptyPages {
            return "The device sends empty pages without an end."
        }
        return nil
    }

    /// Takes a page. Returns the samples to store, in ascending order, and the new cursor if it moves.
    mutating func ingest(_ page: HistoryPage, at now: Timestamp) -> (samples: [Sample], cursor: Timestamp?) {
        pages += 1
        emptyPages = page.isEmpty ? emptyPages + 1 : 0
        next = page.next
        if let next { names.insert(next.hashValue) }
        last = page.samples
        refuse(.malformed, count: page.malformed)
        let horizon = now + SyncPolicy.futureTolerance
        var samples: [Sample] = []
        samples.reserveCapacity(page.samples.count)
        var starts: [Timestamp] = []
        for sample in page.samples {
            if let reason = SampleCheck.reason(of: sample, expecting: request.metric) {
                let isTimed = reason != .malformed && SampleLimits.moments.contains(sample.start)
                // A start in the future is the mistake of a clock, and says nothing about which records are new.
                guard isTimed, sample.start <= now, SampleLimits.moments.contains(sample.end) else {
                    refuse(reason, count: 1)
                    continue
                }
                refuse(sample, reason)
                // It counts as read: otherwise everything after it would be read again each time.
                starts.append(sample.start)
            } else if sample.end <= horizon {
                samples.append(sample)
                starts.append(sample.start)
            } else {
                postponed += 1
                firstPostponed = min(firstPostponed ?? sample.start, sample.start)
            }
        }
        samples.sort { ($0.start, $0.end) < ($1.start, $1.end) }
        starts.sort()
        return (samples, moveCursor(over: starts, at: now))
    }

    private mutating func refuse(_ reason: RefusalReason, count: Int) {
        guard count > 0 else { return }
        timeless[reason, default: 0] += count
        refused.add(reason, count: count)
    }

    private mutating func refuse(_ sample: Sample, _ reason: RefusalReason) {
        refused.add(reason, start: sample.start, end: sample.end)
        guard refusedThrough.map({ sample.start > $0 }) ?? true else { return }
        newlyRefused.add(reason, start: sample.start, end: sample.end)
    }

    private mutating func moveCursor(over starts: [Timestamp], at now: Timestamp) -> Timestamp? {
        guard isContiguous else { return nil }
        // The cursor stops before the first postponed record, so that it is not skipped.
        func counts(_ start: Timestamp) -> Bool {
            start >= request.from && start < request.to && firstPostponed.map { start < $0 } ?? true
        }
        guard let newest = starts.last(where: counts) else { return nil }
        underWay = (newest, starts.last { counts($0) && $0 < newest })
        // Never ahead of the gateway's clock: records of the next minutes would lie before the cursor.
        let reached = min(newest, now)
        guard cursor.map({ reached > $0 }) ?? true else { return nil }
        cursor = reached
        return reached
    }

    /// Up to where everything is on disk after the last page.
    var through: Timestamp? {
        guard let durable, let firstPostponed, durable >= firstPostponed else { return durable }
        return whole
    }

    /// Records that the page is on disk.
    mutating func committed() {
        guard let (newest, before) = underWay else { return }
        underWay = nil
        let earlier = durable.flatMap { $0 < newest ? $0 : nil }
        whole = [whole, before, earlier].compactMap { $0 }.max()
        durable = max(durable ?? newest, newest)
    }
}

extension HistoryPage {
    /// Whether it has no records, not even malformed ones.
    fileprivate var isEmpty: Bool { samples.isEmpty && malformed == 0 }
}
