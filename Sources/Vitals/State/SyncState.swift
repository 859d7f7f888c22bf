/// State of a device's synchronisation.
package struct SyncState: Sendable, Hashable {
    /// The phases. The raw value is the name on the wire.
    package enum Phase: String, CaseIterable, Sendable, Hashable { case idle, syncing, failed }

    /// One metric of a synchronisation.
    package struct Row: Sendable, Hashable {
        /// The raw value is the name on the wire.
        package enum State: String, CaseIterable, Sendable, Hashable {
            case waiting, reading, done, failed, unsupported
        }

        package var metric: Metric
        package var state: State
        /// New records, including corrected ones.
        package var new = 0
        /// Records known before.
        package var known = 0
        /// Implausible records, not stored.
        package var refused = Refusals()
        /// Records in the future, to be read again when their time has come.
        package var postponed = 0
        /// Why the metric failed or is not supported.
        package var error: Failure?

        package init(_ metric: Metric, _ state: State = .waiting) {
            self.metric = metric
            self.state = state
        }
    }

    /// Why a metric could not be synchronised.
    package struct Failure: Sendable, Hashable {
        package var metric: Metric
        package var code: AnswerCode
        package var message: String

        package init(metric: Metric, code: AnswerCode, message: String) {
            self.metric = metric
            self.code = code
            self.message = message
        }
    }

    package var phase: Phase
    /// The job's name: `connect`, `schedule`, or the command's id.
    package var job: String?
    /// The metric that is being read.
    package var metric: Metric?
    /// The result of each metric of the job.
    package var rows: [Row]
    /// The start of the oldest and of the newest record read.
    package var oldest: Timestamp?
    package var newest: Timestamp?
    package var startedAt: Timestamp?
    package var lastSuccessAt: Timestamp?
    /// Why all or part of the job failed, as text for people.
    package var error: String?
    /// How much of an export its driver has read, in per cent; `nil` while it reads none.
    package var importPercent: Int?
    /// Values that were dropped since the gateway started, by reason, but for the records that `rows` count.
    package var skipped: [String: Int]

    package init(
        phase: Phase = .idle, job: String? = nil, metric: Metric? = nil, rows: [Row] = [], oldest: Timestamp? = nil,
        newest: Timestamp? = nil, startedAt: Timestamp? = nil, lastSuccessAt: Timestamp? = nil, error: String? = nil,
        skipped: [String: Int] = [:]
    ) {
        self.skipped = skipped
        self.phase = phase
        self.job = job
        self.metric = metric
        self.rows = rows
        self.oldest = oldest
        self.newest = newest
        self.startedAt = startedAt
        self.lastSuccessAt = lastSuccessAt
        self.error = error
    }

    /// Number of metrics that have ended, successfully or not.
    package var metricsDone: Int { rows.count { $0.state != .waiting && $0.state != .reading } }
    package var metricsTotal: Int { rows.count }
    package var samplesNew: Int { rows.reduce(0) { $0 + $1.new } }
    package var samplesKnown: Int { rows.reduce(0) { $0 + $1.known } }
    /// The metrics that failed. Unsupported ones have not.
    package var failed: [Failure] { rows.compactMap { $0.state == .failed ? $0.error : nil } }
}
