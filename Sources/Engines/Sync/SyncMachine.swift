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
        /// The gap of a reading that failed is on disk, or cannot be stored.
        case reported(isStored: Bool)
        /// The device's summaries are on disk.
        case summarised
        /// The metric cannot be read, or its samples cannot be stored.
        case failed(AnswerCode, String)
        /// The session ended. Committed samples stay; the next job continues after them.
        case disconnected
    }

    package indirect enum Action: Sendable, Hashable {
        case read(HistoryRequest)
        /// Store these samples, move the cursor and announce refused records, all in the same commit.
        case ingest([Sample], metric: Metric, cursor: Timestamp?, gap: Gap?)
        case acknowledge(Metric, through: Timestamp)
        /// Read and store the device's own summaries of these days, one part after the other.
        case summarise(Metric, [ClosedRange<LocalDay>])
        /// Announce the refused records of a reading that failed, and move the cursor in the same commit.
        case report(Gap, metric: Metric, cursor: Timestamp?)
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
    @Indirect private var reading: SyncReading?
    /// The metric whose summaries are being read.
    private var summarising: Metric?
    private var publishedAt: Timestamp?
    /// The failed reading whose gap is being stored.
    @Indirect private var ending: SyncReading?
    /// The refused records that gaps have announced.
    private var announced: [Metric: RefusedRecords.Announced] = [:]

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
        case .reported(let isStored): return reported(isStored, at: now)
        case .summarised:
            guard let metric = summarising.take() else { return [] }
            change(metric) { $0.state = .done }
            return [.finishedMetric(metric)] + nextMetric(at: now)
        case .failed(let code, let message): return fail(code, message, at: now)
        case .disconnected:
            guard job != nil else { return [] }
            let actions = reading.take().flatMap { end($0, at: now) } ?? []
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
        var before = announced[metric] ?? .init()
        before.through = [range.cursor, before.through].compactMap { $0 }.max()
        reading = SyncReading(
            request: request, cursor: range.cursor, isContiguous: range.isContiguous, isWhole: job.to == nil,
            announced: job.from == nil ? before : nil)
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
        if let issue = current.issue(in: page) {
            reading = current
            return fail(.deviceError, issue, at: now)
        }
        let step = current.ingest(page, at: now)
        let metric = current.request.metric
        change(metric) { row in
            row.refused = current.refused
            row.postponed = current.postponed
        }
        reading = current
        if let first = step.samples.first, let last = step.samples.last {
            state.oldest = min(state.oldest ?? first.start, first.start)
            state.newest = max(state.newest ?? last.start, last.start)
        }
        return [.ingest(step.samples, metric: metric, cursor: step.cursor, gap: step.gap(of: metric, at: now))]
    }

    private mutating func committed(new: Int, known: Int, at now: Timestamp) -> [Action] {
        guard var current = reading.take() else { return [] }
        let metric = current.request.metric
        change(metric) { row in
            row.new += new
            row.known += known
        }
        commit(&current)
        if let next = current.next {
            current.request.page = next
            current.next = nil
            reading = current
            return progress(at: now) + [.read(current.request)]
        }
        let ended =
            acknowledge(metric, through: current.through, at: now)
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
        return end(current, at: now) ?? failed(current, at: now)
    }

    /// Stores what a reading that failed leaves to be announced; `nil` if that is nothing.
    private mutating func end(_ reading: SyncReading, at now: Timestamp) -> [Action]? {
        var reading = reading
        let metric = reading.request.metric
        let step = reading.end(at: now)
        guard let gap = step.gap(of: metric, at: now) else { return nil }
        ending = reading
        return [.report(gap, metric: metric, cursor: step.cursor)]
    }

    private mutating func reported(_ isStored: Bool, at now: Timestamp) -> [Action] {
        guard var reading = ending.take() else { return [] }
        // Without its gap, the cursor stays before the refused records, and the next synchronisation meets them again.
        if isStored { commit(&reading) }
        guard job != nil else { return [] }
        return isStored ? failed(reading, at: now) : nextMetric(at: now)
    }

    /// Records before the failure are durable, so acknowledge them: a device that always fails at one record would
    /// otherwise fill up behind it.
    private mutating func failed(_ reading: SyncReading, at now: Timestamp) -> [Action] {
        acknowledge(reading.request.metric, through: reading.whole, at: now) + nextMetric(at: now)
    }

    private mutating func commit(_ reading: inout SyncReading) {
        reading.committed()
        if !reading.announcesAll { announced[reading.request.metric] = reading.announced }
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

/// A requested synchronisation.
package struct SyncJob: Sendable, Hashable {
    /// Its name in `sync`: `connect`, `schedule`, or a command's id.
    package var name: String
    /// The metrics, in order.
    package var metrics: [Metric]
    /// The range. `nil` means from the cursor, and until now.
    package var from: Timestamp?
    package var to: Timestamp?
    /// Keys of the commands that it answers.
    package var commands: [String]

    package init(
        name: String, metrics: [Metric], from: Timestamp? = nil, to: Timestamp? = nil, commands: [String] = []
    ) {
        self.name = name
        self.metrics = metrics
        self.from = from
        self.to = to
        self.commands = commands
    }
}
