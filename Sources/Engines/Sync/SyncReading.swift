import GatewayKit
import Vitals

/// One metric's history while it is read: what is on disk, and how far the cursor may move.
struct SyncReading: Sendable {
    var request: HistoryRequest
    /// The name of the next page.
    var next: String?
    /// Number of records in the future, skipped for now.
    private(set) var postponed = 0

    /// Whether gaps announce all refused records of the range, also those that were announced before.
    let announcesAll: Bool
    private let isContiguous: Bool
    /// Whether the reading goes up to now.
    private let isWhole: Bool
    private var pages = 0
    private var emptyPages = 0
    /// Hashes of all page names so far; the names themselves may be long.
    private var names: Set<Int> = []
    private var last: [Sample] = []
    private var firstPostponed: Timestamp?
    private var progress: Progress
    /// The progress once the page being stored is on disk.
    private var underWay: Progress?

    /// What the pages on disk have brought.
    private struct Progress {
        var refused: RefusedRecords
        /// The stored cursor.
        var cursor: Timestamp?
        /// Since when refused records hold the cursor back.
        var heldSince: Timestamp?
        /// The start of the newest record on disk before which everything is on disk.
        var durable: Timestamp?
        /// Like `durable`, but before the newest start, as the next page may begin with more records of the same start.
        var whole: Timestamp?
    }

    /// What to store in one transaction. The cursor passes refused records only together with the gap that announces
    /// them, so that a crash cannot lose the gap.
    struct Step: Sendable {
        var samples: [Sample] = []
        /// The new cursor, if it moves.
        var cursor: Timestamp?
        var refused = Refusals()

        /// The gap that announces the refused records; `nil` without any.
        func gap(of metric: Metric, at now: Timestamp) -> Gap? {
            refused.isEmpty ? nil : Gap(refused, of: metric, at: now)
        }
    }

    /// - Parameters:
    ///   - isContiguous: whether nothing unread lies between cursor and range, so that the cursor may move and
    ///     records may be acknowledged.
    ///   - isWhole: whether the reading goes up to now.
    ///   - announced: the refused records that gaps have announced before; `nil` to announce all once more.
    init(
        request: HistoryRequest, cursor: Timestamp?, isContiguous: Bool, isWhole: Bool,
        announced: RefusedRecords.Announced?
    ) {
        self.request = request
        announcesAll = announced == nil
        self.isContiguous = isContiguous
        self.isWhole = isWhole
        progress = Progress(refused: RefusedRecords(announced: announced ?? .init()), cursor: cursor)
    }

    /// Implausible records, which are skipped, with those of the page being stored.
    var refused: Refusals { (underWay ?? progress).refused.all }
    /// The refused records that gaps have announced.
    var announced: RefusedRecords.Announced { progress.refused.announced }
    /// Up to where everything is on disk before the last page.
    var whole: Timestamp? { progress.whole }

    /// Describes a page that would keep the reading from ending; `nil` if the page is fine.
    func issue(in page: HistoryPage) -> String? {
        if let next = page.next, names.contains(next.hashValue) || next == request.page {
            return "The device names a page that it already sent as the next one."
        }
        // A stretch of refused records may be longer than two pages, and all alike: an erased memory reads so.
        if page.samples == last, page.samples.contains(where: { refusal(of: $0) == nil }) {
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

    private func refusal(of sample: Sample) -> RefusalReason? {
        SampleCheck.reason(of: sample, expecting: request.metric)
    }

    /// Takes a page. Returns what to store, with the samples in ascending order.
    mutating func ingest(_ page: HistoryPage, at now: Timestamp) -> Step {
        pages += 1
        emptyPages = page.isEmpty ? emptyPages + 1 : 0
        next = page.next
        if let next { names.insert(next.hashValue) }
        last = page.samples
        var after = progress
        var step = Step()
        step.samples.reserveCapacity(page.samples.count)
        after.refused.add(.malformed, count: page.malformed)
        let horizon = now + SyncPolicy.futureTolerance
        var starts: [Timestamp] = []
        for sample in page.samples {
            if let reason = refusal(of: sample) {
                let isTimed = reason != .malformed && SampleLimits.moments.contains(sample.start)
                // A start in the future is the error of a clock, and says nothing about which records are new.
                guard isTimed, sample.start <= now, SampleLimits.moments.contains(sample.end) else {
                    after.refused.add(reason, count: 1)
                    continue
                }
                after.refused.add(reason, start: sample.start, end: sample.end)
                // It counts as read: otherwise everything after it would be read again each time.
                starts.append(sample.start)
            } else if sample.end <= horizon {
                step.samples.append(sample)
                starts.append(sample.start)
            } else {
                postponed += 1
                firstPostponed = min(firstPostponed ?? sample.start, sample.start)
            }
        }
        step.samples.sort { ($0.start, $0.end) < ($1.start, $1.end) }
        starts.sort()
        advance(&after, over: starts)
        if after.refused.isWaiting, page.next != nil {
            hold(&after, &step, at: now)
        } else {
            step.refused = after.refused.announceAll(isWhole: isWhole && page.next == nil)
            after.heldSince = nil
            step.cursor = move(&after, to: page.next == nil ? after.durable : after.whole, at: now)
        }
        underWay = after
        return step
    }

    private func advance(_ progress: inout Progress, over starts: [Timestamp]) {
        guard isContiguous else { return }
        // The cursor stops before the first postponed record, so that it is not skipped.
        func counts(_ start: Timestamp) -> Bool {
            start >= request.from && start < request.to && firstPostponed.map { start < $0 } ?? true
        }
        guard let newest = starts.last(where: counts) else { return }
        let before = starts.last { counts($0) && $0 < newest }
        let earlier = progress.durable.flatMap { $0 < newest ? $0 : nil }
        progress.whole = [progress.whole, before, earlier].compactMap { $0 }.max()
        progress.durable = max(progress.durable ?? newest, newest)
    }

    /// Keeps the cursor before the refused records that wait for their gap, which comes with the last page. In a long
    /// reading it comes earlier, so that a crash does not make the gateway read everything again.
    private func hold(_ progress: inout Progress, _ step: inout Step, at now: Timestamp) {
        let since = progress.heldSince ?? now
        progress.heldSince = since
        // After the clock was set back, too.
        guard now < since || now - since >= SyncPolicy.refusalInterval, let whole = progress.whole else { return }
        step.refused = progress.refused.announce(through: whole)
        guard !step.refused.isEmpty else { return }
        progress.heldSince = now
        step.cursor = move(&progress, to: whole, at: now)
    }

    private func move(_ progress: inout Progress, to target: Timestamp?, at now: Timestamp) -> Timestamp? {
        guard isContiguous, let target else { return nil }
        // Never ahead of the gateway's clock: records of the next minutes would lie before the cursor.
        let reached = min(target, now)
        guard progress.cursor.map({ reached > $0 }) ?? true else { return nil }
        progress.cursor = reached
        return reached
    }

    /// Ends the reading before its last page. Returns what the pages on disk leave to be stored. The refused records of
    /// a page that is not on disk will be read again.
    mutating func end(at now: Timestamp) -> Step {
        var after = progress
        var step = Step()
        step.refused = after.refused.announce(through: after.whole)
        if !step.refused.isEmpty { step.cursor = move(&after, to: after.whole, at: now) }
        underWay = after
        return step
    }

    /// Up to where everything is on disk after the last page.
    var through: Timestamp? {
        guard let durable = progress.durable, let firstPostponed, durable >= firstPostponed else {
            return progress.durable
        }
        return progress.whole
    }

    /// Records that the page, or the rest of the reading, is on disk.
    mutating func committed() {
        progress = underWay ?? progress
        underWay = nil
    }
}

extension HistoryPage {
    /// Whether it has no records, not even malformed ones.
    fileprivate var isEmpty: Bool { samples.isEmpty && malformed == 0 }
}
