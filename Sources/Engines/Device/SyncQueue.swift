import Concurrency
import Vitals

/// Synchronisations that wait for the device, and the queries and commands that wait for them.
final class SyncQueue {
    private var jobs: [SyncJob] = []
    /// Queries that wait for a synchronisation, by the key with which it answers them.
    private var waiters: [String: Promise<Answer>] = [:]
    private var arrival = Promise<Void>()
    private let answers: AnswerQueue

    init(answers: AnswerQueue) { self.answers = answers }

    /// Adds a job, or joins it to an equal one. Returns whether there was room.
    func add(_ job: SyncJob) -> Bool {
        guard hasRoom(for: job) else { return false }
        if let index = place(of: job) {
            jobs[index].commands += job.commands
        } else {
            jobs.append(job)
            arrival.fulfil(())
        }
        return true
    }

    func hasRoom(for job: SyncJob) -> Bool {
        guard let index = place(of: job) else { return jobs.count < SyncPolicy.maximumJobs }
        return jobs[index].commands.count + job.commands.count <= DeviceAgent.maximumCommands
    }

    private func place(of job: SyncJob) -> Int? {
        jobs.firstIndex { $0.metrics == job.metrics && $0.from == job.from && $0.to == job.to }
    }

    /// Waits for the next job.
    func next() async throws -> SyncJob {
        while jobs.isEmpty {
            arrival = Promise()
            try await arrival.wait()
        }
        return jobs.removeFirst()
    }

    /// Directs the answer under `key` to a query instead of a command.
    func wait(for key: String) -> Promise<Answer> {
        let promise = Promise<Answer>()
        waiters[key] = promise
        return promise
    }

    /// Answers all that wait for a job that has ended.
    func complete(_ job: SyncJob, _ state: SyncState) async {
        for key in job.commands { await send(key, Answer(state)) }
    }

    /// Answers all that wait when the session has ended.
    func abandon() async {
        let abandoned = jobs
        jobs = []
        for key in abandoned.flatMap(\.commands) { await send(key, .lost) }
    }

    private func send(_ key: String, _ answer: Answer) async {
        if let waiter = waiters.removeValue(forKey: key) {
            waiter.fulfil(answer)
        } else {
            await answers.send(key, answer)
        }
    }
}

extension Answer {
    /// The final answer to a command whose synchronisation ended in this state.
    fileprivate init(_ state: SyncState) {
        if let failure = state.failed.first {
            self.init(.failed, code: failure.code, message: state.error, data: .sync(state))
        } else if !state.rows.isEmpty, state.rows.allSatisfy({ $0.state == .unsupported }) {
            let message = "The device has nothing of these metrics to read."
            self.init(.rejected, code: .unsupported, message: message, data: .sync(state))
        } else {
            self.init(.done, data: .sync(state))
        }
    }
}
