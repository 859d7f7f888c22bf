package import GatewayKit
package import Vitals

/// Reads a device's history, one job and one metric at a time, page by page, and never past a page that is not on disk.
package struct SyncMachine: Sendable {
    package enum Event: Sendable {
        case start(SyncJob, cursors: [Metric: Timestamp], capabilities: Capabilities)
        case page(HistoryPage)
        /// The page is on disk.
        case committed(new: Int, known: Int)
        /// The metric cannot be read, or its samples not be kept.
        case failed(AnswerCode, String)
        /// The session is over. What was committed stays; the next job goes on from there.
        case disconnected
    }

    package enum Action: Sendable, Hashable {
        case read(HistoryRequest)
        /// Keep these, and move the cursor with them.
        case take([Sample], metric: Metric, cursor: Timestamp?)
        case acknowledge(Metric, through: Timestamp)
        /// A metric is done, from the start of its range.
        case finishedMetric(Metric, from: Timestamp)
        case publish(SyncState)
        case finished(SyncJob, SyncState)
    }

    private struct Reading: Sendable {
        var request: HistoryRequest
        var pages = 0
        var emptyPages = 0
        var next: String?
        var last: [Sample] = []
        var through: Timestamp?
        var postponed = 0
    }

    private let policy: SyncPolicy
    package private(set) var state: SyncState
    package private(set) var job: SyncJob?
    private var cursors: [Metric: Timestamp] = [:]
    private var capabilities = Capabilities()
    private var remaining: [Metric] = []
    private var reading: Reading?

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
            return nextMetric(at: now)
        case .page(let page): return take(page, at: now)
        case .committed(let new, let known): return committed(new: new, known: known, at: now)
        case .failed(let code, let message): return fail(code, message, at: now)
        case .disconnected:
            guard job != nil else { return [] }
            for metric in (reading.map { [$0.request.metric] } ?? []) + remaining {
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
        let from =
            job.from
            ?? policy.start(
                of: metric, cursor: cursors[metric], maximumHistoryDays: capabilities.maximumHistoryDays, at: now)
        let to = job.to ?? now + SyncPolicy.futureTolerance
        state.metric = metric
        let request = HistoryRequest(metric: metric, from: from, to: max(from, to))
        reading = Reading(request: request)
        return [.publish(state), .read(request)]
    }

    private mutating func take(_ page: HistoryPage, at now: Timestamp) -> [Action] {
        guard var current = reading else { return [] }
        let metric = current.request.metric
        current.pages += 1
        if let mistake = mistake(in: page, after: current) { return fail(.deviceError, mistake, at: now) }
        current.emptyPages = page.samples.isEmpty ? current.emptyPages + 1 : 0
        current.next = page.next
        current.last = page.samples
        let horizon = now + SyncPolicy.futureTolerance
        var samples = page.samples.filter { $0.end <= horizon && $0.isValid && $0.metric == metric }
        current.postponed += page.samples.count { $0.end > horizon }
        samples.sort { ($0.start, $0.end) < ($1.start, $1.end) }
        let inRange = samples.last { $0.start >= current.request.from && $0.start < current.request.to }
        // A record that is still to come must not be passed over: the cursor stops before it.
        let cursor = current.postponed == 0 ? inRange?.start : nil
        current.through = cursor ?? current.through
        reading = current
        if let first = samples.first, let last = samples.last {
            state.oldest = min(state.oldest ?? first.start, first.start)
            state.newest = max(state.newest ?? last.start, last.start)
        }
        let moves = cursor.map { cursors[metric] == nil || $0 > (cursors[metric] ?? $0) } ?? false
        if moves { cursors[metric] = cursor }
        return [.take(samples, metric: metric, cursor: moves ? cursor : nil)]
    }

    /// What is wrong with a page as a page: it would lead round in circles for ever.
    private func mistake(in page: HistoryPage, after current: Reading) -> String? {
        if page.next != nil, page.next == current.request.page {
            return "The device names the page that it just sent as the next one."
        }
        if !page.samples.isEmpty, page.samples == current.last {
            return "The device sends the same page again and again."
        }
        if current.pages > SyncPolicy.maximumPages {
            return "The device sent \(SyncPolicy.maximumPages) pages and there is still no end."
        }
        if page.samples.isEmpty, page.next != nil, current.emptyPages >= SyncPolicy.maximumEmptyPages {
            return "The device sends empty pages without an end."
        }
        return nil
    }

    private mutating func committed(new: Int, known: Int, at now: Timestamp) -> [Action] {
        guard var current = reading else { return [] }
        state.samplesNew += new
        state.samplesKnown += known
        var actions: [Action] = [.publish(state)]
        if policy.acknowledges, job?.from == nil, let through = current.through {
            actions.append(.acknowledge(current.request.metric, through: through))
            current.through = nil
        }
        if let next = current.next {
            current.request.page = next
            current.next = nil
            reading = current
            return actions + [.read(current.request)]
        }
        reading = nil
        state.metricsDone += 1
        if current.postponed > 0 {
            state.error =
                "\(current.postponed) records of \(current.request.metric.rawValue) lie in the future; "
                + "they are read again when their time has come."
        }
        return actions + [.finishedMetric(current.request.metric, from: current.request.from)] + nextMetric(at: now)
    }

    private mutating func fail(_ code: AnswerCode, _ message: String, at now: Timestamp) -> [Action] {
        guard let current = reading else { return [] }
        reading = nil
        state.failed.append(.init(metric: current.request.metric, code: code, message: message))
        return nextMetric(at: now)
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
