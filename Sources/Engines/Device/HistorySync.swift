import Concurrency
import GatewayKit
import Logging
package import Vitals

/// Reads the device's history when it is due or a command asks for it.
final class HistorySync {
    private let context: DeviceContext
    private var machine: SyncMachine
    private var marks = SyncMarks()
    private let queue: SyncQueue
    private let ingest: SampleIngest
    private let days: DailySummaryTracker
    private let answers: AnswerQueue
    /// Number of synchronisations that the gateway itself requested.
    private var requests = 0

    init(context: DeviceContext, ingest: SampleIngest, days: DailySummaryTracker, answers: AnswerQueue) {
        self.context = context
        self.ingest = ingest
        self.days = days
        self.answers = answers
        machine = SyncMachine(policy: context.policy.sync, calendar: context.policy.calendar, lastSuccessAt: nil)
        queue = SyncQueue(answers: answers)
    }

    var state: SyncState { withSkipped(machine.state) }
    /// Whether a synchronisation is running. It settles the days that it touches itself, once each metric is complete.
    var isRunning: Bool { machine.job != nil }

    private func withSkipped(_ state: SyncState) -> SyncState {
        var state = state
        state.skipped = ingest.skipped
        state.importPercent = marks.importPercent
        return state
    }

    private func publish(_ state: SyncState) {
        marks.skipped = ingest.skipped
        context.publish(.sync(withSkipped(state)))
    }

    /// Publishes the state if values were dropped since it was published. A running synchronisation publishes it by itself.
    func publishSkipped() {
        if !isRunning, ingest.skipped != marks.skipped { publish(machine.state) }
    }

    /// Publishes how much of an export the driver has read, from 0 to 1; `nil` once that is over. A running synchronisation publishes it
    /// by itself.
    func publish(progress: Double?) {
        let percent = progress.map { Int(min(max($0, 0), 1) * 100) }
        guard percent != marks.importPercent else { return }
        marks.importPercent = percent
        if !isRunning { publish(machine.state) }
    }

    /// Restores cursors and the last success from the store.
    func restore(from record: DeviceRecord) {
        marks = SyncMarks(cursors: record.cursors)
        machine = SyncMachine(
            policy: context.policy.sync, calendar: context.policy.calendar, lastSuccessAt: record.lastSyncAt)
    }

    // MARK: - Requests

    /// Requests a synchronisation. Returns whether it will run.
    @discardableResult
    func request(_ job: SyncJob) -> Bool { !context.isStopping && queue.add(job) }

    /// Requests a synchronisation of everything if one is due.
    func requestIfDue() {
        guard marks.isDue(at: context.clock.uptime, every: context.policy.sync.every) else { return }
        request(SyncJob(name: "schedule", metrics: []))
    }

    /// Requests a synchronisation for a command, which is answered when the synchronisation ends.
    func request(_ job: SyncJob, for key: String, while isConnected: () -> Bool) async {
        guard queue.hasRoom(for: job) else { return await answers.send(key, .tooManySynchronisations) }
        // Before the job can end.
        await answers.send(key, Answer(.accepted))
        guard isConnected() else { return await answers.send(key, .lost) }
        if !request(job) { await answers.send(key, context.isStopping ? .gone : .tooManySynchronisations) }
    }

    /// Synchronises a range of a metric for a query, and waits for it. Returns the answer if that fails.
    func syncRange(
        _ metric: Metric, from: Timestamp?, to: Timestamp?, for item: CommandItem, while isConnected: () -> Bool
    ) async -> Answer? {
        // The end of the job removes it, since the job may outlive this command.
        let key = "\(item.key)#sync"
        let job = SyncJob(name: item.name, metrics: [metric], from: from, to: to, commands: [key])
        guard queue.hasRoom(for: job) else { return .tooManySynchronisations }
        await answers.send(item.key, Answer(.accepted))
        guard isConnected() else { return .lost }
        guard request(job) else { return context.isStopping ? .gone : .tooManySynchronisations }
        guard var answer = try? await queue.wait(for: key).wait() else { return .lost }
        if case .sync(let state) = answer.data, let failure = state.failed.first { answer.message = failure.message }
        answer.data = nil
        return answer.status == .done ? nil : answer
    }

    /// Synchronises everything. Returns the result as an answer.
    func synchronise(named name: String) async -> Answer {
        requests += 1
        let key = "\(name)#\(requests)"
        guard request(SyncJob(name: name, metrics: [], commands: [key])) else {
            return context.isStopping ? .gone : .tooManySynchronisations
        }
        return (try? await queue.wait(for: key).wait()) ?? .lost
    }

    /// Answers waiting synchronisations when the session has ended.
    func abandonJobs() async { await queue.abandon() }

    // MARK: - In a session

    /// Notes that a device last seen at `lastSeen` has connected. The next synchronisation reports what was lost since.
    func recordAbsence(since lastSeen: Timestamp?, _ capabilities: Capabilities) {
        // The connection's own synchronisation comes first, and the schedule counts from there.
        marks.nextAt = nil
        marks.recordAbsence(
            since: lastSeen, lastSuccessAt: machine.state.lastSuccessAt, capabilities, at: context.clock.now)
    }

    /// Runs synchronisations one after the other during the session, the first one now.
    func run(on channel: DeviceChannel) async throws {
        // If too many wait already, the schedule asks for it again.
        if !request(SyncJob(name: "connect", metrics: [])) { marks.nextAt = context.clock.uptime }
        while true { try await run(queue.next(), on: channel) }
    }

    private func run(_ wanted: SyncJob, on channel: DeviceChannel) async throws {
        let capabilities = channel.capabilities
        var job = wanted
        // Each once, and sport first, so that heart rates during a workout are recognised.
        job.metrics = Metric.synchronised.filter {
            wanted.metrics.isEmpty ? capabilities.canSynchronise($0) : wanted.metrics.contains($0)
        }
        if wanted.metrics.isEmpty, wanted.from == nil, wanted.to == nil {
            marks.nextAt = context.clock.uptime + context.policy.sync.every
            await reportLoss(of: capabilities)
        }
        var events: [SyncMachine.Event] = [.start(job, cursors: marks.cursors, capabilities: capabilities)]
        var failure: DeviceError?
        while !events.isEmpty {
            for action in machine.handle(events.removeFirst(), at: context.clock.now) {
                // After the session has ended, leave the device alone, but finish the job.
                if failure != nil, action.needsDevice { continue }
                do throws(DeviceError) {
                    if let event = try await perform(action, of: job, on: channel) { events.append(event) }
                } catch {
                    // Committed samples stay.
                    failure = error
                    events = [.disconnected]
                }
            }
        }
        if let failure { throw failure }
    }

    /// Reports what was lost while the device was offline for longer than it keeps its history: once per absence, even if
    /// reading takes several attempts.
    private func reportLoss(of capabilities: Capabilities) async {
        guard let gap = marks.loss(of: capabilities, at: context.clock.now) else { return }
        do throws(StoreError) {
            try await context.store.report(gap, of: context.id)
            marks.lossFrom = nil
        } catch { logUnstored(error) }
    }

    private func logUnstored(_ error: StoreError) {
        context.logger.error("The gap cannot be stored; trying again.", metadata: ["error": "\(error)"])
    }

    private func perform(
        _ action: SyncMachine.Action, of job: SyncJob, on channel: DeviceChannel
    ) async throws(DeviceError) -> SyncMachine.Event? {
        switch action {
        case .publish(let state):
            publish(state)
            return nil
        case .read(let request): return try await read(request, from: channel)
        case .ingest(let samples, let metric, let cursor, let gap):
            return await store(samples, of: metric, cursor: cursor, gap: gap, capabilities: channel.capabilities)
        case .acknowledge(let metric, let through):
            try await acknowledge(metric, through: through, to: channel)
            return nil
        case .summarise(let metric, let days): return try await summarise(metric, days, on: channel)
        case .report(let gap, let metric, let cursor):
            return await report(gap, of: metric, cursor: cursor)
        case .wasRead(let metric, let from, let to):
            await days.markRead(metric, from: from, to: to)
            return nil
        case .finishedMetric(let metric):
            ingest.publishSynchronised(metric)
            await days.refreshDays(settlesPast: true)
            return nil
        case .finished(let job, let state):
            await complete(job, state)
            return nil
        }
    }

    private func read(
        _ request: HistoryRequest, from channel: DeviceChannel
    ) async throws(DeviceError) -> SyncMachine.Event {
        do throws(DeviceError) {
            let page = try await channel.call("history/read", DeviceTimeouts.history) {
                device throws(DeviceError) in try await device.history(request)
            }
            let refused = page.malformed + page.samples.count { $0.metric != request.metric || !$0.isValid }
            if refused > 0 { ingest.logRefused(refused, of: request.metric) }
            return .page(page)
        } catch {
            if error.endsSession { throw error }
            return .failed(AnswerCode(error), error.message)
        }
    }

    private func acknowledge(
        _ metric: Metric, through: Timestamp, to channel: DeviceChannel
    ) async throws(DeviceError) {
        do throws(DeviceError) {
            try await channel.call("history/acknowledge") { device throws(DeviceError) in
                try await device.acknowledgeHistory(of: metric, through: through)
            }
        } catch {
            if error.endsSession { throw error }
            context.logger.warning("The device did not take an acknowledgement.", metadata: ["error": "\(error)"])
        }
    }

    private func store(
        _ samples: [Sample], of metric: Metric, cursor: Timestamp?, gap: Gap?, capabilities: Capabilities
    ) async -> SyncMachine.Event {
        do throws(StoreError) {
            let samples = try await ingest.withStoredIdentity(samples, of: metric, capabilities: capabilities)
            let result = try await ingest.store(samples, of: metric, cursor: cursor, gap: gap)
            if let cursor { marks.cursors[metric] = cursor }
            return .committed(new: result.new + result.corrected, known: result.known)
        } catch {
            return .failed(.deviceError, "The samples cannot be stored: \(error.message)")
        }
    }

    private func report(_ gap: Gap, of metric: Metric, cursor: Timestamp?) async -> SyncMachine.Event {
        do throws(StoreError) {
            _ = try await ingest.store([], of: metric, cursor: cursor, gap: gap)
            if let cursor { marks.cursors[metric] = cursor }
            return .reported(isStored: true)
        } catch {
            logUnstored(error)
            return .reported(isStored: false)
        }
    }

    /// Reads and stores the device's own summaries of days.
    private func summarise(
        _ metric: Metric, _ parts: [ClosedRange<LocalDay>], on channel: DeviceChannel
    ) async throws(DeviceError) -> SyncMachine.Event {
        for part in parts {
            do throws(DeviceError) {
                let summaries = try await channel.call("summary/read", DeviceTimeouts.history) {
                    device throws(DeviceError) in try await device.summaries(of: metric, days: part)
                }
                try await store(summaries, of: metric, part)
            } catch {
                if error.endsSession { throw error }
                return .failed(AnswerCode(error), error.message)
            }
        }
        return .summarised
    }

    private func store(
        _ summaries: [DailySummary], of metric: Metric, _ wanted: ClosedRange<LocalDay>
    ) async throws(DeviceError) {
        for summary in summaries {
            guard summary.metric == metric, wanted.contains(summary.day) else {
                ingest.ignore("a summary that was not asked for")
                continue
            }
            if ingest.skipIfErased(summary.day) { continue }
            do throws(StoreError) { try await days.storeOwn(summary) } catch {
                throw DeviceError(.failure, "The summaries cannot be stored: \(error.message)")
            }
        }
    }

    private func complete(_ job: SyncJob, _ state: SyncState) async {
        // Failed metrics may have brought samples, too.
        ingest.publishSynchronised()
        days.publishToday()
        if state.failed.isEmpty, let at = state.lastSuccessAt { await context.save([.lastSync(at)]) }
        let refused = state.rows.reduce(0) { $0 + $1.refused.count }
        // A device that sends by itself has one with each connection, which reads nothing.
        let isEmpty = state.samplesNew + state.samplesKnown + refused + state.failed.count == 0
        context.logger.log(
            level: isEmpty ? .debug : .info, "A synchronisation ended.",
            metadata: [
                "job": "\(job.name)", "new": "\(state.samplesNew)", "known": "\(state.samplesKnown)",
                "refused": "\(refused)", "failed": "\(state.failed.count)",
            ])
        hintAtOlderRecords(job, state)
        await queue.complete(job, withSkipped(state))
    }

    /// Says once how to read older records, where the first synchronisation of everything found none.
    private func hintAtOlderRecords(_ job: SyncJob, _ state: SyncState) {
        guard let first = context.policy.sync.first, !marks.hasHinted, job.from == nil, job.to == nil,
            state.failed.isEmpty, !job.metrics.isEmpty, job.metrics.allSatisfy({ marks.cursors[$0] == nil }),
            state.rows.allSatisfy({ $0.new + $0.known + $0.refused.count + $0.postponed == 0 })
        else { return }
        marks.hasHinted = true
        context.logger.warning(
            "The device has no records of the time that a first synchronisation reads. If it has older ones, set sync: {first: all}.",
            metadata: ["first": "\(first.configurationText)"])
    }
}

extension SyncMachine.Action {
    /// Whether it calls the device.
    fileprivate var needsDevice: Bool {
        switch self {
        case .read, .acknowledge, .summarise: true
        case .ingest, .publish, .report, .wasRead, .finishedMetric, .finished: false
        }
    }
}

/// How far a device's history has been read, and when it is read next.
package struct SyncMarks: Sendable {
    /// The start of the newest record synchronised, per metric.
    package var cursors: [Metric: Timestamp]
    /// When the next scheduled synchronisation is due, by the monotonic clock; `nil` before the first one of a session.
    package var nextAt: Duration?
    /// The last success before an absence longer than the device keeps its history; `nil` once the loss is reported.
    package var lossFrom: Timestamp?
    /// The dropped values in the state that was published last.
    var skipped: [String: Int] = [:]
    /// How much of an export the driver has read, in per cent; `nil` while it reads none.
    var importPercent: Int?
    /// Whether the log has that a first synchronisation found nothing.
    var hasHinted = false

    package init(cursors: [Metric: Timestamp] = [:]) { self.cursors = cursors }

    /// Whether a scheduled synchronisation is due. If so, sets the next one an interval later.
    package mutating func isDue(at uptime: Duration, every interval: Duration) -> Bool {
        guard let nextAt, nextAt <= uptime else { return false }
        self.nextAt = uptime + interval
        return true
    }

    /// Checks at a connection whether the device was offline for longer than it keeps its history.
    package mutating func recordAbsence(
        since lastSeen: Timestamp?, lastSuccessAt: Timestamp?, _ capabilities: Capabilities, at now: Timestamp
    ) {
        guard let lastSeen, let days = capabilities.maximumHistoryDays, lastSeen < now - .days(max(days, 1)) else {
            return
        }
        lossFrom = lossFrom ?? lastSuccessAt
    }

    /// The gap left by an absence longer than the device keeps its history; `nil` if there is none.
    package func loss(of capabilities: Capabilities, at now: Timestamp) -> Gap? {
        guard let lossFrom, let days = capabilities.maximumHistoryDays, lossFrom < now - .days(days) else {
            return nil
        }
        return Gap(metric: nil, from: lossFrom, to: now - .days(days), count: nil, reason: .device, at: now)
    }
}
