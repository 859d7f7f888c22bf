import GatewayKit
import Vitals

/// One metric's history while it is being read: what of it is on disk, and how far the cursor may move.
struct SyncReading: Sendable {
    var request: HistoryRequest
    /// What the next page is called.
    var next: String?
    /// Records that lie in the future and were left out.
    private(set) var postponed = 0
    /// The start of the newest record that is on disk, with everything before it.
    private var durable: Timestamp?
    /// Likewise, but before the records that the page which is still to come may begin with, too.
    private(set) var whole: Timestamp?

    private var cursor: Timestamp?
    private let isContiguous: Bool
    private var pages = 0
    private var emptyPages = 0
    private var names: Set<String> = []
    private var last: [Sample] = []
    private var firstPostponed: Timestamp?
    /// The newest start of the page that is being kept, and the one before it.
    private var underWay: (newest: Timestamp, before: Timestamp?)?

    /// - Parameter isContiguous: whether nothing unread lies between the cursor and the range, so that the cursor may move
    ///   and records be acknowledged.
    init(request: HistoryRequest, cursor: Timestamp?, isContiguous: Bool) {
        self.request = request
        self.cursor = cursor
        self.isContiguous = isContiguous
    }

    /// What is wrong with a page as a page: it would lead round in circles for ever.
    func mistake(in page: HistoryPage) -> String? {
        if let next = page.next, names.contains(next) || next == request.page {
            return "The device names a page as the next one that it sent already."
        }
        if !page.samples.isEmpty, page.samples == last {
            return "The device sends the same page again and again."
        }
        if page.next != nil, pages + 1 >= SyncPolicy.maximumPages {
            return "The device sent \(SyncPolicy.maximumPages) pages and there is still no end."
        }
        if page.samples.isEmpty, page.next != nil, emptyPages >= SyncPolicy.maximumEmptyPages {
            return "The device sends empty pages without an end."
        }
        return nil
    }

    /// Takes a page in. Returns what is to be kept, ascending, and where the cursor moves to with it.
    mutating func take(_ page: HistoryPage, at now: Timestamp) -> (samples: [Sample], cursor: Timestamp?) {
        pages += 1
        emptyPages = page.samples.isEmpty ? emptyPages + 1 : 0
        next = page.next
        if let next { names.insert(next) }
        last = page.samples
        let horizon = now + SyncPolicy.futureTolerance
        var samples: [Sample] = []
        samples.reserveCapacity(page.samples.count)
        for sample in page.samples where sample.metric == request.metric && sample.isValid {
            if sample.end <= horizon {
                samples.append(sample)
            } else {
                postponed += 1
                firstPostponed = min(firstPostponed ?? sample.start, sample.start)
            }
        }
        samples.sort { ($0.start, $0.end) < ($1.start, $1.end) }
        return (samples, moveCursor(over: samples, at: now))
    }

    private mutating func moveCursor(over samples: [Sample], at now: Timestamp) -> Timestamp? {
        guard isContiguous else { return nil }
        // A record that is still to come must not be passed over: the cursor stops before it.
        func counts(_ sample: Sample) -> Bool {
            sample.start >= request.from && sample.start < request.to
                && firstPostponed.map { sample.start < $0 } ?? true
        }
        guard let newest = samples.last(where: counts)?.start else { return nil }
        underWay = (newest, samples.last { counts($0) && $0.start < newest }?.start)
        // Not ahead of our own clock, or records of the next minutes would lie before it.
        let reached = min(newest, now)
        guard cursor.map({ reached > $0 }) ?? true else { return nil }
        cursor = reached
        return reached
    }

    /// Up to where everything is on disk once there are no more pages.
    var through: Timestamp? {
        guard let durable, let firstPostponed, durable >= firstPostponed else { return durable }
        return whole
    }

    /// The page is on disk.
    mutating func committed() {
        guard let (newest, before) = underWay else { return }
        underWay = nil
        let earlier = durable.flatMap { $0 < newest ? $0 : nil }
        whole = [whole, before, earlier].compactMap { $0 }.max()
        durable = max(durable ?? newest, newest)
    }
}
