package import GatewayKit
package import Vitals

/// Reads a device's history, one job and one metric at a time, page by page. Each page is on disk before the next is
/// read.
package struct SyncMachine: Sendable {
    package indirect enum Event: Sendable {
        case start(SyncJob, cursors: [Metric: Timestamp], capabilities: Capabilities)
        case page(HistoryPage)
        /// The page is on disk.
        case committed(new: Int, known: Int)
        /// The device's summaries are on disk.
        case summarised
        /// The metric cannot be read, or its samples cannot be stored.
        case failed(AnswerCode, String)
        /// The session ended. Committed samples stay; the next job continues after them.
        case disconnected
    }

    package indirect enum Action: Sendable, Hashable {
        case read(HistoryRequest)
        /// Store these samples and move the cursor in the same commit.
        case ingest([Sample], metric: Metric, cursor: Timestamp?)
        case acknowledge(Metric, through: Timestamp)
        /// Read and store the device's own summaries of these days, one part after the other.
        case summarise(Metric, [ClosedRange<LocalDay>])
        /// Report refused records of a metric that were not reported before.
        case report(Gap)
        /// All records of a metric in this range were read; without `to`, until now.
        case wasRead(Metric, from: Timestamp, to: Timestamp?)
        /// Publish what the finished metric brought.
        case finishedMetric(Metric)
        case publish(SyncState)
        case finished(SyncJob, SyncState)
    }

    /// Minimum interval between two published progress states.
    package static let progressInterval: Duration = .seconds(2)

    private let policy: SyncPolicy
    private let calendar: LocalCalendar
    package private(set) var state: SyncState
    package private(set) var job: SyncJob?
    private var cursors: [Metric: Timestamp] = [:]
    private var capabilities = Capabilities()
    private var reading: SyncReading?
    /// The metric whose summaries are being read.
    private var summarising: Metric?
    private var publishedAt: Timestamp?
    /// What the previous synchronisation refused: the latest start, and the number of records without a usable time.
    private var refused: [Metric: (through: Timestamp?, timeless: [RefusalReason: Int])] = [:]

    package init(policy: SyncPolicy, calendar: LocalCalendar, lastSuccessAt: Timestamp?) {
        self.policy = policy
        self.calendar = calendar
        self.state = SyncState(lastSuccessAt: lastSuccessAt)
    }

    package mutating func handle(_ event: Event, at now: Timestamp) -> [Action] {
        switch event {
        case .start(let job, let cursors, let capabilities):
            self.job = job
            self.cursors = cursors
            self.capabilities = capabilities
            state = SyncState(
                phase: .syncing, job: job.name, rows: job.metrics.map { row(of: $0) }, startedAt: now,
                lastSuccessAt: state.lastSuccessAt)
            publishedAt = nil
            return nextMetric(at: now)
        case .page(let page): return ingest(page, at: now)
        case .committed(let new, let known): return committed(new: new, known: known, at: now)
        case .summarised:
            guard let metric = summarising.take() else { return [] }
            change(metric) { $0.state = .done }
            return [.finishedMetric(metric)] + nextMetric(at: now)
        case .failed(let code, let message): return fail(code, message, at: now)
        case .disconnected:
            guard job != nil else { return [] }
            let actions = reading.take().map { report($0, isWhole: false, at: now) } ?? []
            summarising = nil
            for row in state.rows where row.state == .waiting || row.state == .reading {
                fail(row.metric, .offline, "The device was lost during the synchronisation.")
            }
            state.error = "The device was lost during the synchronisation; the next one goes on where it stopped."
            return actions + complete(at: now)
        }
    }

    private func row(of metric: Metric) -> SyncState.Row {
        guard !capabilities.canSynchronise(metric) else { return SyncState.Row(metric) }
        var row = SyncState.Row(metric, .unsupported)
        row.error = .init(metric: metric, code: .unsupported, message: "The device has nothing of it to read.")
        return row
    }

    private mutating func change(_ metric: Metric, _ change: (inout SyncState.Row) -> Void) {
        guard let index = state.rows.firstIndex(where: { $0.metric == metric }) else { return }
        change(&state.rows[index])
    }

    private mutating func fail(_ metric: Metric, _ code: AnswerCode, _ message: String) {
        change(metric) { row in
            row.state = .failed
            row.error = .init(metric: metric, code: code, message: message)
        }
    }

    private mutating func nextMetric(at now: Timestamp) -> [Action] {
        guard let job else { return [] }
        guard let metric = state.rows.first(where: { $0.state == .waiting })?.metric else { return complete(at: now) }
        change(metric) { $0.state = .reading }
        state.metric = metric
        let range = range(of: metric, at: now)
        guard capabilities.supports(.history, metric) else {
            // The device keeps only daily summaries, no records.
            return progress(at: now) + summarise(metric, from: min(range.from, range.to), at: now)
        }
        let request = HistoryRequest(metric: metric, from: range.from, to: max(range.from, range.to))
        reading = SyncReading(
            request: request, cursor: range.cursor, isContiguous: range.isContiguous,
            refusedThrough: job.from == nil ? [range.cursor, refused[metric]?.through].compactMap { $0 }.max() : nil)
        return progress(at: now) + [.read(request)]
    }

    private func range(
        of metric: Metric, at now: Timestamp
    ) -> (from: Timestamp, to: Timestamp, cursor: Timestamp?, isContiguous: Bool) {
        // A cursor in the future was set while the gateway's clock was wrong: ignore it.
        let cursor = cursors[metric].flatMap { $0 > now + SyncPolicy.futureTolerance ? nil : $0 }
        let usual = policy.start(
            of: metric, cursor: cursor, maximumHistoryDays: capabilities.maximumHistoryDays, at: now)
        let from = job?.from ?? usual
        // A range that begins after the cursor would leave a hole between them.
        return (from, job?.to ?? now + SyncPolicy.futureTolerance, cursor, from <= max(usual, cursor ?? usual))
    }

    private mutating func summarise(_ metric: Metric, from: Timestamp, at now: Timestamp) -> [Action] {
        summarising = metric
        let days = SyncPolicy.summaryDays(
            from: from, to: job?.to, isAsked: job?.from != nil, calendar: calendar, at: now)
        return [.summarise(metric, days)]
    }

    private mutating func ingest(_ page: HistoryPage, at now: Timestamp) -> [Action] {
        // Take it out of `self`, so that pages do not copy its storage.
        guard var current = reading.take() else { return [] }
        if let mistake = current.mistake(in: page) {
            reading = current
            return fail(.deviceError, mistake, at: now)
        }
        let (samples, cursor) = current.ingest(page, at: now)
        let metric = current.request.metric
        change(metric) { row in
            row.refused = current.refused
            row.postponed = current.postponed
        }
        reading = current
        if let first = samples.first, let last = samples.last {
            state.oldest = min(state.oldest ?? first.start, first.start)
            state.newest = max(state.newest ?? last.start, last.start)
        }
        return [.ingest(samples, metric: metric, cursor: cursor)]
    }

    private mutating func committed(new: Int, known: Int, at now: Timestamp) -> [Action] {
        guard var current = reading.take() else { return [] }
        let metric = current.request.metric
        change(metric) { row in
            row.new += new
            row.known += known
        }
        current.committed()
        if let next = current.next {
            current.request.page = next
            current.next = nil
            reading = current
            return progress(at: now) + [.read(current.request)]
        }
        let ended =
            report(current, isWhole: job?.to == nil, at: now) + acknowledge(metric, through: current.through, at: now)
            + [.wasRead(metric, from: current.request.from, to: job?.to)]
        if capabilities.supports(.summary, metric) {
            return ended + summarise(metric, from: current.request.from, at: now)
        }
        change(metric) { $0.state = .done }
        return ended + [.finishedMetric(metric)] + nextMetric(at: now)
    }

    private mutating func fail(_ code: AnswerCode, _ message: String, at now: Timestamp) -> [Action] {
        if let metric = summarising.take() {
            let what = capabilities.supports(.history, metric) ? "The device's own summaries: " : ""
            fail(metric, code, what + message)
            return [.finishedMetric(metric)] + nextMetric(at: now)
        }
        guard let current = reading.take() else { return [] }
        let metric = current.request.metric
        fail(metric, code, message)
        // Records before the failure are durable, so acknowledge them: a device that always fails at one record would
        // otherwise fill up behind it.
        return report(current, isWhole: false, at: now) + acknowledge(metric, through: current.whole, at: now)
            + nextMetric(at: now)
    }

    /// Reports refused records: all of them in a range that a command asked for, else those that are new since the
    /// previous synchronisation.
    /// - Parameter isWhole: whether the reading came to its end, so that it has met all records without a time.
    private mutating func report(_ reading: SyncReading, isWhole: Bool, at now: Timestamp) -> [Action] {
        let metric = reading.request.metric
        var refusals = reading.newlyRefused
        let before = job?.from == nil ? refused[metric] : nil
        // Records without a time cannot be told apart: only an increase since the last time is new.
        for (reason, count) in reading.timeless {
            refusals.add(reason, count: count - (before?.timeless[reason] ?? 0))
        }
        if job?.from == nil {
            let through = [before?.through, refusals.through].compactMap { $0 }.max()
            let timeless =
                isWhole ? reading.timeless : reading.timeless.merging(before?.timeless ?? [:], uniquingKeysWith: max)
            refused[metric] = (through, timeless)
        }
        return refusals.isEmpty ? [] : [.report(Gap(refusals, of: metric, at: now))]
    }

    /// Acknowledges at the end of a metric only: a device that forgets records at once would renumber its pages.
    private func acknowledge(_ metric: Metric, through: Timestamp?, at now: Timestamp) -> [Action] {
        guard policy.acknowledges, let through else { return [] }
        // Never ahead of the gateway's clock: this would acknowledge records before they are made.
        return [.acknowledge(metric, through: min(through, now))]
    }

    /// The progress, unless one was published recently.
    private mutating func progress(at now: Timestamp) -> [Action] {
        if let publishedAt, now >= publishedAt, now - publishedAt < Self.progressInterval { return [] }
        publishedAt = now
        return [.publish(state)]
    }

    private mutating func complete(at now: Timestamp) -> [Action] {
        guard let job else { return [] }
        self.job = nil
        state.metric = nil
        let failed = state.failed
        state.phase = failed.isEmpty ? .idle : .failed
        if failed.isEmpty {
            state.lastSuccessAt = now
        } else if state.error == nil {
            state.error = failed.map { "\($0.metric.rawValue): \($0.message)" }.joined(separator: "; ")
        }
        return [.publish(state), .finished(job, state)]
    }
}
