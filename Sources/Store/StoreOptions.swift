import Vitals

/// The limits of a store. The defaults are those of the configuration file.
package struct StoreOptions: Sendable, Hashable {
    /// How old a fact may get that the broker never took, before it is dropped and told as a gap.
    package var outboxMaximumAge: Duration = .days(30)
    /// How many bytes undelivered facts may occupy with their samples, by `messageBytes` and `sampleBytes`. Beyond it the
    /// oldest are dropped: history first, then live, alerts last.
    package var outboxMaximumBytes: Int64 = 1 << 30
    /// For how long delivered facts can be sent again by their numbers: longer than a long weekend.
    package var replayAge: Duration = .days(7)
    /// For how long samples are kept after they were measured; `nil` for ever. A sample that a kept fact refers to stays
    /// for as long as that fact.
    package var sampleRetention: Duration? = .days(400)
    /// For how long daily summaries are kept; `nil` for ever.
    package var dailyRetention: Duration?
    /// For how long a command's answer is remembered: within it the same id gets the same answer.
    package var answerAge: Duration = .minutes(10)
    /// How many commands are remembered at most: sixteen a second for ten minutes.
    package var maximumAnswers = 10_000
    /// How many bytes of answers are remembered at most: 64 MiB, which is 300 of the longest.
    package var maximumAnswerBytes: Int64 = 64 << 20
    /// Rows that one call of `clean` drops at most of each kind, so that it holds the writer for tens of milliseconds.
    package var cleanLimit = 2_000
    /// Samples and other requests that share one commit at most, so that the first of them does not wait for long and the
    /// log file stays small. The callers of the rest wait for the next.
    package var commitLimit = 20_000

    /// The limits of the configuration file's defaults.
    package init() {}

    /// What an undelivered fact occupies beside its samples, with its share of half-filled pages: an upper estimate.
    package static let messageBytes: Int64 = 96
    /// What a sample occupies with its place in a fact: 38 bytes were measured for heart rates.
    package static let sampleBytes: Int64 = 48
}
