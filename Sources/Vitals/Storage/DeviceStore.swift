/// The store of a device's engines.
package protocol DeviceStore: Sendable {
    /// Everything stored about a device. Creates an unknown device.
    func load(_ device: DeviceID) async throws(StoreError) -> DeviceRecord

    /// Stores new and corrected samples, asks `decide` for their consequences, and stores these, too, all in one
    /// transaction.
    func ingest(_ ingest: Ingest) async throws(StoreError) -> IngestResult

    /// Stores changed parts of a device's state.
    func save(_ changes: [DeviceChange], of device: DeviceID) async throws(StoreError)

    /// Samples of a metric, sorted by start, end and user-initiated, with starts from `range.lowerBound` to before
    /// `range.upperBound`: those that a person started (`true`), the others (`false`), or all (`nil`).
    func samples(
        of device: DeviceID, metric: Metric, starting range: Range<Timestamp>, isUserInitiated: Bool?,
        after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample]

    /// The valid samples of a metric that say their own offset from UTC (`Sample.utcOffset`), in the same order.
    func samplesWithOffset(
        of device: DeviceID, metric: Metric, starting range: Range<Timestamp>, after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample]

    /// The samples of a device that wait until somebody says whose they are, the oldest first.
    func waiting(of device: DeviceID, limit: Int) async throws(StoreError) -> [StoredSample]

    /// The sample with an id, withdrawn or not, and behind it the device's other samples of values that begin at the same moment; empty if
    /// the device has none with this id. It looks through all samples of the device, so it is for what people ask.
    func occasion(of id: SampleID, of device: DeviceID) async throws(StoreError) -> [StoredSample]

    /// Stores a day's summary. Creates a fact if the day is past and the summary differs from the stored one. A past
    /// day then counts as settled. Returns what is stored now.
    func settle(
        _ summary: DailySummary, of device: DeviceID, isFinal: Bool, at: Timestamp
    ) async throws(StoreError) -> DayRecord

    /// Stores the device's own summary of a day. If it differs from the stored one, a settled past day becomes a fact
    /// again, with a higher revision; any other day is marked as unsettled, even without samples. Summaries older than
    /// the retention of days are not stored.
    /// - Returns: whether the day is unsettled.
    func storeDeviceSummary(
        _ summary: DailySummary, of device: DeviceID, at: Timestamp
    ) async throws(StoreError) -> Bool

    /// Days of a metric, in ascending order.
    func days(
        of device: DeviceID, metric: Metric, in range: ClosedRange<LocalDay>, limit: Int
    ) async throws(StoreError) -> [DayRecord]

    /// Creates a fact for each of these devices about samples or facts known to be lost: all of them, or none.
    func report(_ gap: Gap, of devices: [DeviceID]) async throws(StoreError)

    /// What the device's driver keeps, by name.
    func notes(of device: DeviceID) async throws(StoreError) -> [String: [UInt8]]

    /// Changes what the device's driver keeps; `nil` removes a note.
    func saveNotes(_ changes: [String: [UInt8]?], of device: DeviceID) async throws(StoreError)
}

extension DeviceStore {
    /// Samples of a metric, whether started by a command, a schedule or the device.
    package func samples(
        of device: DeviceID, metric: Metric, starting range: Range<Timestamp>, after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample] {
        try await samples(
            of: device, metric: metric, starting: range, isUserInitiated: nil, after: after, limit: limit)
    }
}

extension DeviceStore {
    /// Creates a fact about samples or facts of a device known to be lost.
    package func report(_ gap: Gap, of device: DeviceID) async throws(StoreError) {
        try await report(gap, of: [device])
    }
}
