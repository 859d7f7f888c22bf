import Vitals

/// The limits of a store. The defaults are those of the configuration file.
package struct StoreOptions: Sendable, Hashable {
    /// The maximum age of an undelivered fact. An older one is dropped and announced as a gap.
    package var outboxMaximumAge: Duration = .days(30)
    /// The maximum size in bytes of undelivered facts with their samples, by `messageBytes` and `sampleBytes`. Over it
    /// the oldest are dropped: history first, then live, alerts last.
    package var outboxMaximumBytes: Int64 = 1 << 30
    /// The maximum number of quarantined facts, which the broker does not take; the oldest are dropped, all were
    /// reported as gaps. They end with the age limit of the outbox, too.
    package var maximumQuarantined = 100_000
    /// How long delivered facts can be sent again by number: longer than a long weekend.
    package var replayAge: Duration = .days(7)
    /// How long samples are kept after their measurement; `nil` for ever. A sample stays as long as a stored fact
    /// refers to it.
    package var sampleRetention: Duration? = .days(400)
    /// How long daily summaries are kept; `nil` for ever.
    package var dailyRetention: Duration?
    /// How long a command's answer is kept. In this time the same id gets the same answer.
    package var answerAge: Duration = StoredAnswer.memory
    /// The maximum number of stored answers: sixteen a second for ten minutes. Those that the broker has make room; while it
    /// has none of them, no further command begins.
    package var maximumAnswers = 10_000
    /// The maximum size in bytes of stored answers: 64 MiB, which is 300 of the longest. Beyond it as above.
    package var maximumAnswerBytes: Int64 = 64 << 20
    /// The maximum number of stored answers to callers of this process, such as the API: the newest stay.
    package var maximumUnsentAnswers = 1_000
    /// The maximum size in bytes of their payloads: 8 MiB, which is 40 of the longest.
    package var maximumUnsentAnswerBytes: Int64 = 8 << 20
    /// The maximum rows of each kind that one call of `clean` drops, which holds the writer for tens of milliseconds.
    package var cleanLimit = 2_000
    /// The maximum number of samples and other requests in one commit. It limits the wait of the first request and the
    /// log file's size; the other callers wait for the next commit.
    package var commitLimit = 20_000

    /// How long a request that may wait lets others join its commit: they come within a millisecond of each other, and
    /// each commit rewrites a page.
    package var batchWait: Duration = .milliseconds(5)

    /// Whether hours that late samples touch are kept as pending, for the import of statistics
    /// (`keepPendingStatistics`).
    package var marksPendingStatistics = false

    /// The limits of the configuration file's defaults.
    package init() {}

    /// The size of an undelivered fact without samples, with its share of half-filled pages: an upper estimate.
    package static let messageBytes: Int64 = 96
    /// The size of a sample with its place in a fact: 38 bytes were measured for heart rates.
    package static let sampleBytes: Int64 = 48
}
