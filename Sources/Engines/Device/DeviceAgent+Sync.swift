import GatewayKit
import Logging
import Vitals

extension DeviceAgent {
    /// The device's own summaries are asked for at most so far back.
    package static let maximumSummaryDays = 90
    /// Synchronisations that may wait; a further one of a command is answered `busy`.
    package static let maximumJobs = 16

    /// Asks for a synchronisation. The same one is not queued twice. Returns whether it is going to be run.
    @discardableResult
    func request(_ job: SyncJob) -> Bool {
        guard stopping.value == nil, hasRoom(for: job) else { return false }
        if let index = place(of: job) {
            jobs[index].commands += job.commands
        } else {
            jobs.append(job)
            jobSignal.open(())
        }
        return true
    }

    func hasRoom(for job: SyncJob) -> Bool {
        guard let index = place(of: job) else { return jobs.count < Self.maximumJobs }
        return jobs[index].commands.count + job.commands.count <= Self.maximumCommands
    }

    private func place(of job: SyncJob) -> Int? {
        jobs.firstIndex { $0.metrics == job.metrics && $0.from == job.from && $0.to == job.to }
    }

    /// Runs one synchronisation after the other for as long as the session lasts, the first one now.
    func synchronise(_ device: any DeviceSession) async throws {
        request(SyncJob(name: "connect", metrics: []))
        while true {
            guard !jobs.isEmpty else {
                jobSignal = Latch()
                try await jobSignal.wait()
                continue
            }
            try await run(jobs.removeFirst(), on: device)
        }
    }

    /// Answers the synchronisations that wait when the session is over.
    func abandonJobs() async {
        let abandoned = jobs
        jobs = []
        for key in abandoned.flatMap(\.commands) {
            if let waiter = syncWaiters.removeValue(forKey: key) {
                let failure = SyncState.Failure(metric: .heartRate, code: .offline, message: "The device was lost.")
                waiter.open(SyncState(phase: .failed, failed: [failure]))
                continue
            }
            await answer(key, Answer(.failed, code: .offline, message: "The device was lost."))
        }
    }

    private func run(_ wanted: SyncJob, on device: any DeviceSession) async throws {
        let capabilities = device.description.capabilities
        var job = wanted
        // Each once, and sport first, so that heart rates of a workout are known as such.
        job.metrics = Metric.synchronised.filter {
            wanted.metrics.isEmpty ? capabilities.canSynchronise($0) : wanted.metrics.contains($0)
        }
        if wanted.metrics.isEmpty, wanted.from == nil, wanted.to == nil {
            nextSync = clock.uptime + policy.sync.every
            await tellLoss(of: capabilities)
        }
        var events: [SyncMachine.Event] = [.start(job, cursors: cursors, capabilities: capabilities)]
        var failure: (any Error)?
        while !events.isEmpty {
            for action in sync.handle(events.removeFirst(), at: clock.now) {
                // Once the session is over the device is left alone, but the job is still brought to its end.
                if failure != nil, action.needsDevice { continue }
                do throws(DeviceError) {
                    if let event = try await perform(action, of: job, on: device) { events.append(event) }
                } catch {
                    // What was committed stays.
                    failure = error
                    events = [.disconnected]
                }
            }
        }
        if let failure { throw failure }
    }

    /// Says what is lost where the device was away for longer than it keeps its history: once for each such absence, also
    /// where reading it takes several attempts.
    private func tellLoss(of capabilities: Capabilities) async {
        let now = clock.now
        guard let last = lossFrom, let days = capabilities.maximumHistoryDays, last < now - .days(days) else { return }
        let gap = Gap(metric: nil, from: last, to: now - .days(days), count: nil, reason: .device, at: now)
        do throws(StoreError) {
            try await store.report(gap, of: id)
            lossFrom = nil
        } catch {
            logger.error("A loss cannot be told; trying again.", metadata: ["error": "\(error)"])
        }
    }

    private func perform(
        _ action: SyncMachine.Action, of job: SyncJob, on device: any DeviceSession
    ) async throws(DeviceError) -> SyncMachine.Event? {
        switch action {
        case .publish(let state):
            publish(.sync(state))
            return nil
        case .read(let request): return try await read(request, from: device)
        case .take(let samples, let metric, let cursor):
            return await keep(
                samples, of: metric, cursor: cursor, capabilities: device.description.capabilities)
        case .acknowledge(let metric, let through):
            do throws(DeviceError) {
                try await call("history/acknowledge", DeviceTimeouts.call) { () async throws(DeviceError) in
                    try await device.acknowledgeHistory(of: metric, through: through)
                }
            } catch {
                if error.code == .timeout || error.code == .disconnected { throw error }
                logger.warning("The device did not take an acknowledgement.", metadata: ["error": "\(error)"])
            }
            return nil
        case .summarise(let metric, let from):
            return try await summarise(metric, from: from, to: job.to, on: device)
        case .finishedMetric(let metric, let from):
            await finish(metric, from: from, to: job.to, on: device)
            return nil
        case .finished(let job, let state):
            await finish(job, state)
            return nil
        }
    }

    private func read(
        _ request: HistoryRequest, from device: any DeviceSession
    ) async throws(DeviceError) -> SyncMachine.Event {
        do {
            let page = try await call("history/read", DeviceTimeouts.history) { () async throws(DeviceError) in
                try await device.history(request)
            }
            malformed += page.malformed + page.samples.count { $0.metric != request.metric || !$0.isValid }
            return .page(page)
        } catch {
            if error.code == .timeout || error.code == .disconnected { throw error }
            return .failed(AnswerCode(error), error.message)
        }
    }

    private func keep(
        _ samples: [Sample], of metric: Metric, cursor: Timestamp?, capabilities: Capabilities
    ) async -> SyncMachine.Event {
        do throws(StoreError) {
            let samples = try await recognise(samples, of: metric, capabilities: capabilities)
            let result = try await take(samples, source: .sync, cursors: cursor.map { [metric: $0] } ?? [:])
            return .committed(new: result.new + result.corrected, known: result.known)
        } catch {
            return .failed(.deviceError, "The samples cannot be kept: \(error.message)")
        }
    }

    /// A metric is done: its newest sample and its days are published, with what the device says of them.
    private func finish(_ metric: Metric, from: Timestamp, to: Timestamp?, on device: any DeviceSession) async {
        heldLatest.remove(metric)
        publishLatest()
        if device.description.capabilities.supports(.summary, metric) {
            do { try await takeSummaries(of: metric, from: from, to: to, on: device) } catch {
                logger.warning("The device's own summaries cannot be kept.", metadata: ["error": "\(error)"])
            }
        }
        await finishDays()
    }

    private func finishDays() async {
        do throws(StoreError) {
            try await refreshToday()
            try await settleDays()
        } catch {
            logger.error("The days cannot be summarised; trying again.", metadata: ["error": "\(error)"])
        }
    }

    /// Reads what the device says of the days of a metric of which it has nothing else.
    private func summarise(
        _ metric: Metric, from: Timestamp, to: Timestamp?, on device: any DeviceSession
    ) async throws(DeviceError) -> SyncMachine.Event {
        do {
            try await takeSummaries(of: metric, from: from, to: to, on: device)
        } catch let error as DeviceError {
            if error.code == .timeout || error.code == .disconnected { throw error }
            return .failed(AnswerCode(error), error.message)
        } catch {
            return .failed(.deviceError, "The days cannot be kept: \(error)")
        }
        await finishDays()
        return .summarised
    }

    /// Keeps what the device says of the days of a range.
    private func takeSummaries(
        of metric: Metric, from: Timestamp, to: Timestamp?, on device: any DeviceSession
    ) async throws {
        let calendar = policy.calendar
        let today = calendar.day(of: clock.now)
        let oldest = today.advanced(by: -Self.maximumSummaryDays)
        let last = to.map { min(calendar.day(of: $0), today) } ?? today
        guard oldest <= last else { return }
        let days = max(oldest, min(calendar.day(of: from), last))...last
        let summaries = try await call("summary/read", DeviceTimeouts.history) { () async throws(DeviceError) in
            try await device.summaries(of: metric, days: days)
        }
        for summary in summaries {
            guard summary.metric == metric, days.contains(summary.day) else {
                malformed += 1
                continue
            }
            if try await store.keepDeviceSummary(summary, of: id, at: clock.now) {
                unsettled.insert(MetricDay(metric, summary.day))
            }
            guard summary.day == today, deviceToday[metric]?.hasSameContent(as: summary) != true else { continue }
            deviceToday[metric] = summary
            await intakeGate.alone { ledger.today.announce([metric]) }
        }
    }

    private func finish(_ job: SyncJob, _ state: SyncState) async {
        // Metrics that failed have something new all the same.
        heldLatest = []
        publishLatest()
        publishToday()
        if state.failed.isEmpty, let at = state.lastSuccessAt { await keep([.lastSync(at)]) }
        logger.info(
            "A synchronisation ended.",
            metadata: ["job": "\(job.name)", "new": "\(state.samplesNew)", "failed": "\(state.failed.count)"])
        let data = Answer.Data.sync(new: state.samplesNew, known: state.samplesKnown, failed: state.failed)
        for key in job.commands {
            if let waiter = syncWaiters.removeValue(forKey: key) {
                waiter.open(state)
            } else if let failure = state.failed.first {
                let message = state.failed.map { "\($0.metric.rawValue): \($0.message)" }.joined(separator: " ")
                await answer(key, Answer(.failed, code: failure.code, message: message, data: data))
            } else {
                await answer(key, Answer(.done, data: data))
            }
        }
    }
}

extension SyncMachine.Action {
    /// Whether it asks the device for something.
    fileprivate var needsDevice: Bool {
        switch self {
        case .read, .acknowledge, .summarise, .finishedMetric: true
        case .take, .publish, .finished: false
        }
    }
}

extension DeviceAgent {
    /// Asks for a synchronisation of everything, where the device is connected.
    package func requestSync() {
        guard session != nil else { return }
        request(SyncJob(name: "gateway", metrics: []))
    }
}
