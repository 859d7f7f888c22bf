package import Vitals

/// What the engines need from the store: everything durable.
///
/// Each method is one transaction that is on disk when it returns. Writes of several callers share a commit (group commit).
/// The real store is SQLite; tests wrap it to inject faults.
package protocol GatewayStore: Sendable {
    /// The store's own identity, made with its file.
    var identity: SampleID { get }

    /// Everything that is known of a device. A device that is not known is made.
    func load(_ device: DeviceID) async throws(StoreError) -> DeviceRecord

    /// Takes samples in: keeps what is new or corrected, lets `decide` say what follows from it, and makes the facts,
    /// all in one transaction.
    func take(_ intake: Intake) async throws(StoreError) -> IntakeResult

    /// Keeps changed parts of a device's state.
    func save(_ changes: [DeviceChange], of device: DeviceID) async throws(StoreError)

    /// Samples of a metric in the order of (start, end, user-initiated), from `range.lowerBound` to before `range.upperBound` by start:
    /// those that a person started (`true`), the others (`false`), or all (`nil`).
    func samples(
        of device: DeviceID, metric: Metric, starting range: Range<Timestamp>, isUserInitiated: Bool?,
        after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample]

    /// Keeps a day's summary, and makes a fact of it where it is a past day and differs from what was kept. Returns what is
    /// kept now. A past day counts as settled.
    func settle(
        _ summary: DailySummary, of device: DeviceID, isFinal: Bool, at: Timestamp
    ) async throws(StoreError) -> DayRecord

    /// Keeps what the device itself says of a day. A past day that is settled already becomes a fact again, with a higher
    /// revision, where this differs from what was kept; one that is not counts as unsettled from now on, also where it has
    /// no samples. What is older than the retention of days is not kept.
    /// - Returns: whether the day is unsettled.
    func keepDeviceSummary(
        _ summary: DailySummary, of device: DeviceID, at: Timestamp
    ) async throws(StoreError) -> Bool

    /// Days of a metric, ascending.
    func days(
        of device: DeviceID, metric: Metric, in range: ClosedRange<LocalDay>, limit: Int
    ) async throws(StoreError) -> [DayRecord]

    /// Makes a fact of samples or facts that are known to be lost.
    func report(_ gap: Gap, of device: DeviceID) async throws(StoreError)

    /// Begins a command: answers what became of it where the same was begun within ten minutes.
    func begin(_ envelope: CommandEnvelope, key: String, at: Timestamp) async throws(StoreError) -> CommandBeginning
    /// Keeps a command's final answer (as its payload), from where it is sent.
    func finish(_ answer: StoredAnswer) async throws(StoreError)
    /// Commands that were begun and never answered: those of a gateway that crashed.
    func unanswered() async throws(StoreError) -> [(key: String, envelope: CommandEnvelope)]

    /// Facts of a lane that were not acknowledged yet, by ascending number, from after `after`.
    func pending(_ lane: Lane, after: Int64, limit: Int) async throws(StoreError) -> [Fact]
    /// Answers that were not acknowledged yet, in the order in which they were kept, from after `after`.
    func pendingAnswers(after: Int64, limit: Int) async throws(StoreError) -> [(number: Int64, answer: StoredAnswer)]
    /// Everything of a lane up to and including a number has reached the broker.
    func acknowledge(_ lane: Lane, through: Int64) async throws(StoreError)
    /// Facts by their numbers, whether they were acknowledged or not; those that are not kept any more are left out.
    func facts(_ numbers: ClosedRange<Int64>, limit: Int) async throws(StoreError) -> [Fact]

    /// How much waits, how much was dropped, and how large the store is.
    func statistics() async throws(StoreError) -> StoreStatistics
    /// Drops what is over the limits of size and, with `byAge`, what is older than its retention: a bounded part at a time.
    /// Returns whether more is to do.
    func clean(at: Timestamp, byAge: Bool) async throws(StoreError) -> Bool
    /// Forgets a device that is no longer configured: its state, twin and levels. Its samples stay until their retention ends.
    func forget(_ device: DeviceID) async throws(StoreError)
    /// The devices that have state here.
    func knownDevices() async throws(StoreError) -> [DeviceID]
}

extension GatewayStore {
    /// Drops what is over the limits of size and older than its retention.
    package func clean(at moment: Timestamp) async throws(StoreError) -> Bool {
        try await clean(at: moment, byAge: true)
    }

    /// Samples of a metric, whoever started them.
    package func samples(
        of device: DeviceID, metric: Metric, starting range: Range<Timestamp>, after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample] {
        try await samples(
            of: device, metric: metric, starting: range, isUserInitiated: nil, after: after, limit: limit)
    }
}

/// Why the store did not do what it was asked.
package struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable, Hashable {
        /// The disk is full. Nothing was changed; trying again later may help.
        case full
        /// The file cannot be read or written. Nothing was changed.
        case unavailable
        /// The file is not what it should be.
        case corrupt
        /// The store is closed.
        case closed
    }
    package var code: Code
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
