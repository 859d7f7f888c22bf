import GatewayKit
import Vitals

/// `store:`, the database file and its limits.
package struct StoreConfiguration: Sendable, Hashable {
    /// `path`: the SQLite file, relative to the configuration file. A missing one is created. Default `vitals.sqlite`.
    package var path: String
    /// `batch_window`: how long a live sample may wait for others, to be written together with them: 0s to 10s, default
    /// 1s. It is published after that. Alerts, and samples for which a device or a person waits, do not wait.
    package var batchWindow: Duration
    /// `outbox.max_age`: the age at which an undelivered message is dropped, counted and announced as a gap; 1h to
    /// 3650d, default 30d.
    package var outboxMaximumAge: Duration
    /// `outbox.max_size`: the maximum size of undelivered messages; over it the oldest are dropped, history first,
    /// alerts last; 16MiB to 1TiB, default 1GiB.
    package var outboxMaximumBytes: Int64
    /// `outbox.replay_age`: how long delivered messages can be replayed by number; 0s to 3650d, default 7d.
    package var replayAge: Duration
    /// `retention.samples`: how long samples are kept after measurement, `nil` for `forever`; 1d to 36500d, default
    /// 400d.
    package var sampleRetention: Duration?
    /// `retention.daily`: how long daily summaries are kept, `nil` for `forever`; 1d to 36500d, default forever.
    package var dailyRetention: Duration?

    /// The default of `path`.
    package static let defaultPath = "vitals.sqlite"
    /// The default of `batch_window`: at four samples a second a commit has four of them.
    package static let defaultBatchWindow: Duration = .seconds(1)
    /// The default of `outbox.max_age`: a broker that is offline for a month is offline for good.
    package static let defaultOutboxMaximumAge: Duration = .days(30)
    /// The default of `outbox.max_size`: more than ten million samples.
    package static let defaultOutboxMaximumBytes: Int64 = 1 << 30
    /// The default of `outbox.replay_age`: longer than a long weekend.
    package static let defaultReplayAge: Duration = .days(7)
    /// The default of `retention.samples`: a year, and the month to compare it with.
    package static let defaultSampleRetention: Duration = .days(400)

    /// Times for `batch_window`. After a longer wait a sample is no longer live.
    static let batchWindows: ClosedRange<Duration> = .zero ... .seconds(10)
    /// Ages for `outbox.max_age`. Less than an hour would not outlast a restart of the broker's machine.
    static let outboxAges: ClosedRange<Duration> = .hours(1) ... .days(3650)
    /// Sizes for `outbox.max_size`. The smallest holds about a hundred thousand samples.
    static let outboxSizes: ClosedRange<Int64> = (16 << 20)...(1 << 40)
    /// Times for `outbox.replay_age`.
    static let replayAges: ClosedRange<Duration> = .zero ... .days(3650)
    /// Retention times of samples and days: one day to a hundred years.
    static let retentions: ClosedRange<Duration> = .days(1) ... .days(36_500)
}

extension StoreConfiguration {
    /// Reads `store:`.
    init(_ reader: inout ConfigurationReader) {
        path = reader.place.path(
            reader.string("path", default: Self.defaultPath, about: "The SQLite file; a missing one is created."))
        batchWindow = reader.duration(
            "batch_window", in: Self.batchWindows, default: Self.defaultBatchWindow,
            about: "How long a live sample may wait for others; alerts, and what a person waits for, do not.")
        let outboxAbout = "Messages that wait for the broker."
        (outboxMaximumAge, outboxMaximumBytes, replayAge) = reader.section("outbox", about: outboxAbout) { outbox in
            (
                outbox.duration(
                    "max_age", in: Self.outboxAges, default: Self.defaultOutboxMaximumAge,
                    about: "Older ones are dropped, counted and announced as a gap."),
                outbox.bytes(
                    "max_size", in: Self.outboxSizes, default: Self.defaultOutboxMaximumBytes,
                    about: "Above it the oldest are dropped, history first and alerts last."),
                outbox.duration(
                    "replay_age", in: Self.replayAges, default: Self.defaultReplayAge,
                    about: "How long delivered messages can be requested again.")
            )
        }
        let retentionAbout = "How long measurements are kept."
        (sampleRetention, dailyRetention) = reader.section("retention", about: retentionAbout) { retention in
            (
                retention.duration(
                    "samples", in: Self.retentions, orWord: "forever", default: Self.defaultSampleRetention,
                    about: "Samples, from their measurement on."),
                retention.duration(
                    "daily", in: Self.retentions, orWord: "forever", default: nil, about: "Daily summaries.")
            )
        }
    }
}
