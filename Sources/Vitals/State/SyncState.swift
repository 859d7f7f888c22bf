/// How the synchronisation of a device's history stands.
package struct SyncState: Sendable, Hashable {
    /// The phases. The raw value is the name on the wire.
    package enum Phase: String, CaseIterable, Sendable, Hashable { case idle, syncing, failed }

    /// A metric that could not be synchronised, and why.
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
    /// What the job is called: `connect`, `schedule`, or the command's id.
    package var job: String?
    /// The metric that is being read.
    package var metric: Metric?
    package var metricsDone: Int
    package var metricsTotal: Int
    /// Records that were not known before, corrected ones included.
    package var samplesNew: Int
    /// Records that were known already.
    package var samplesKnown: Int
    package var failed: [Failure]
    /// The start of the oldest and of the newest record that was read.
    package var oldest: Timestamp?
    package var newest: Timestamp?
    package var startedAt: Timestamp?
    package var lastSuccessAt: Timestamp?
    /// Why the whole job failed, for a person.
    package var error: String?

    package init(
        phase: Phase = .idle, job: String? = nil, metric: Metric? = nil, metricsDone: Int = 0, metricsTotal: Int = 0,
        samplesNew: Int = 0, samplesKnown: Int = 0, failed: [Failure] = [], oldest: Timestamp? = nil,
        newest: Timestamp? = nil, startedAt: Timestamp? = nil, lastSuccessAt: Timestamp? = nil, error: String? = nil
    ) {
        self.phase = phase
        self.job = job
        self.metric = metric
        self.metricsDone = metricsDone
        self.metricsTotal = metricsTotal
        self.samplesNew = samplesNew
        self.samplesKnown = samplesKnown
        self.failed = failed
        self.oldest = oldest
        self.newest = newest
        self.startedAt = startedAt
        self.lastSuccessAt = lastSuccessAt
        self.error = error
    }
}
