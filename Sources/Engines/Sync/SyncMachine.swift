package import GatewayKit
package import Vitals

/// Reads a device's history, one job and one metric at a time, page by page, and never past a page that is not on disk.
package struct SyncMachine: Sendable {
    package enum Event: Sendable {
        case start(SyncJob, cursors: [Metric: Timestamp], capabilities: Capabilities)
        case page(HistoryPage)
        /// The page is on disk.
        case committed(new: Int, known: Int)
        /// The device's summaries of a metric without records are on disk.
        case summarised
        /// The metric cannot be read, or what it has not be kept.
        case failed(AnswerCode, String)
        /// The session is over. What was committed stays; the next job goes on from there.
        case disconnected
    }

    package enum Action: Sendable, Hashable {
        case read(HistoryRequest)
        /// Keep these, and move the cursor with them.
        case take([Sample], metric: Metric, cursor: Timestamp?)
        case acknowledge(Metric, through: Timestamp)
        /// Read and keep the device's summaries of a metric of which it has no records, from the start of its range.
        case summarise(Metric, from: Timestamp)
        /// A metric is done, from the start of its range.
        case finishedMetric(Metric, from: Timestamp)
        case publish(SyncState)
        case finished(SyncJob, SyncState)
    }

    /// How long a progress stands before the next one is published.
    package static let progressInterval: Duration = .seconds(2)

    private let policy: SyncPolicy
    package private(set) var state: SyncState
    package private(set) var job: SyncJob?
    private var cursors: [Metric: Timestamp] = [:]
    private var capabilities = Capabilities()
    private var remaining: [Metric] = []
    private var reading: SyncReading?
    /// The metric without records whose summaries are being read.
    private var summarising: Metric?
    private var publishedAt: Timestamp?

    package init(policy: SyncPolicy, lastSuccessAt: Timestamp?) {
        self.policy = policy
        self.state = SyncState(lastSuccessAt: lastSuccessAt)
    }

    package mutating func handle(_ event: Event, at now: Timestamp) -> [Action] {
        switch event {
        case .start(let job, let cursors, let capabilities):
            self.job = job
            self.cursors = cursors
            self.capabilities = capabilities
            remaining = job.metrics
            state = SyncState(
                phase: .syncing, job: job.name, metricsTotal: job.metrics.count, startedAt: now,
                lastSuccessAt: state.lastSuccessAt)
            publishedAt = nil
            return nextMetric(at: now)
        case .page(let page): return take(page, at: now)
        case .committed(let new, let known): return committed(new: new, known: known, at: now)
        case .summarised:
            guard summarising.take() != nil else { return [] }
            state.metricsDone += 1
            return nextMetric(at: now)
        case .failed(let code, let message): return fail(code, message, at: now)
        case .disconnected:
            guard job != nil else { return [] }
            for metric in [reading?.request.metric, summarising.take()].compactMap({ $0 }) + remaining {
                state.failed.append(
                    .init(metric: metric, code: .offline, message: "The device was lost during the synchronisation."))
            }
            reading = nil
            remaining = []
            state.error = "The device was lost during the synchronisation; the next one goes on where it stopped."
            return finish(at: now)
        }
    }

    private mutating func nextMetric(at now: Timestamp) -> [Action] {
        guard let job else { return [] }
        guard !remaining.isEmpty else { return finish(at: now) }
        let metric = remaining.removeFirst()
        // A cursor that lies in the future was set while our own clock was wrong: it stands for nothing.
        let cursor = cursors[metric].flatMap { $0 > now + SyncPolicy.futureTolerance ? nil : $0 }
        let usual = policy.start(
            of: metric, cursor: cursor, maximumHistoryDays: capabilities.maximumHistoryDays, at: now)
        let from = job.from ?? usual
        let to = job.to ?? now + SyncPolicy.futureTolerance
        state.metric = metric
        guard capabilities.supports(.history, metric) else {
            // It keeps no records, only summaries of its days.
            summarising = metric
            return progress(at: now) + [.summarise(metric, from: min(from, to))]
        }
        let request = HistoryRequest(metric: metric, from: from, to: max(from, to))
        // A range that begins later would leave a hole between the cursor and itself.
        let isContiguous = from <= max(usual, cursor ?? usual)
        reading = SyncReading(request: request, cursor: cursor, isContiguous: isContiguous)
        return progress(at: now) + [.read(request)]
    }

    private mutating func take(_ page: HistoryPage, at now: Timestamp) -> [Action] {
        guard var current = reading else { return [] }
        if let mistake = current.mistake(in: page) { return fail(.deviceError, mistake, at: now) }
        let (samples, cursor) = current.take(page, at: now)
        reading = current
        if let first = samples.first, let last = samples.last {
            state.oldest = min(state.oldest ?? first.start, first.start)
            state.newest = max(state.newest ?? last.start, last.start)
        }
        return [.take(samples, metric: current.request.metric, cursor: cursor)]
    }

    private mutating func committed(new: Int, known: Int, at now: Timestamp) -> [Action] {
        guard var current = reading else { return [] }
        state.samplesNew += new
        state.samplesKnown += known
        current.committed()
        if let next = current.next {
            current.request.page = next
            current.next = nil
            reading = current
            return progress(at: now) + [.read(current.request)]
        }
        reading = nil
        state.metricsDone += 1
        let metric = current.request.metric
        if current.postponed > 0 {
            state.error =
                "\(current.postponed) records of \(metric.rawValue) lie in the future; "
                + "they are read again when their time has come."
        }
        return acknowledge(metric, through: current.through, at: now)
            + [.finishedMetric(metric, from: current.request.from)] + nextMetric(at: now)
    }

    private mutating func fail(_ code: AnswerCode, _ message: String, at now: Timestamp) -> [Action] {
        if let metric = summarising.take() {
            state.failed.append(.init(metric: metric, code: code, message: message))
            return nextMetric(at: now)
        }
        guard let current = reading else { return [] }
        reading = nil
        let metric = current.request.metric
        state.failed.append(.init(metric: metric, code: code, message: message))
        // What came before the failure is durable all the same: a device that fails at one record for ever must not
        // fill up behind it.
        return acknowledge(metric, through: current.whole, at: now) + nextMetric(at: now)
    }

    /// The device is told at the end of a metric only: one that forgets at once would count its pages anew.
    private func acknowledge(_ metric: Metric, through: Timestamp?, at now: Timestamp) -> [Action] {
        guard policy.acknowledges, let through else { return [] }
        // Not ahead of our own clock, or records of the next minutes would be acknowledged before they are made.
        return [.acknowledge(metric, through: min(through, now))]
    }

    /// The progress, unless one was published a moment ago.
    private mutating func progress(at now: Timestamp) -> [Action] {
        if let publishedAt, now >= publishedAt, now - publishedAt < Self.progressInterval { return [] }
        publishedAt = now
        return [.publish(state)]
    }

    private mutating func finish(at now: Timestamp) -> [Action] {
        guard let job else { return [] }
        self.job = nil
        state.metric = nil
        state.phase = state.failed.isEmpty ? .idle : .failed
        if state.failed.isEmpty { state.lastSuccessAt = now }
        return [.publish(state), .finished(job, state)]
    }
}
