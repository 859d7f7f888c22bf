import Engines
import Store
import Synchronization
import Vitals

/// A store whose process dies at some moment: from then on it takes nothing and tells nothing.
final class CrashingStore: GatewayStore {
    private let store: SQLiteStore
    private let isDead = Mutex(false)

    init(_ store: SQLiteStore) { self.store = store }

    var identity: SampleID { store.identity }

    /// The process dies. What was committed stays.
    func crash() async {
        guard
            isDead.withLock({ isDead in
                defer { isDead = true }
                return !isDead
            })
        else { return }
        try? await store.close()
    }

    private func alive() throws(StoreError) -> SQLiteStore {
        if isDead.withLock({ $0 }) { throw StoreError(.closed, "The gateway has crashed.") }
        return store
    }

    func load(_ device: DeviceID) async throws(StoreError) -> DeviceRecord { try await alive().load(device) }
    func take(_ intake: Intake) async throws(StoreError) -> IntakeResult { try await alive().take(intake) }
    func save(_ changes: [DeviceChange], of device: DeviceID) async throws(StoreError) {
        try await alive().save(changes, of: device)
    }
    func samples(
        of device: DeviceID, metric: Metric, starting range: Range<Timestamp>, isUserInitiated: Bool?,
        after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample] {
        try await alive().samples(
            of: device, metric: metric, starting: range, isUserInitiated: isUserInitiated, after: after, limit: limit)
    }
    func settle(
        _ summary: DailySummary, of device: DeviceID, isFinal: Bool, at: Timestamp
    ) async throws(StoreError) -> DayRecord {
        try await alive().settle(summary, of: device, isFinal: isFinal, at: at)
    }
    func keepDeviceSummary(_ summary: DailySummary, of device: DeviceID, at: Timestamp) async throws(StoreError) -> Bool
    {
        try await alive().keepDeviceSummary(summary, of: device, at: at)
    }
    func days(
        of device: DeviceID, metric: Metric, in range: ClosedRange<LocalDay>, limit: Int
    ) async throws(StoreError) -> [DayRecord] {
        try await alive().days(of: device, metric: metric, in: range, limit: limit)
    }
    func report(_ gap: Gap, of device: DeviceID) async throws(StoreError) { try await alive().report(gap, of: device) }
    func begin(_ envelope: CommandEnvelope, key: String, at: Timestamp) async throws(StoreError) -> CommandBeginning {
        try await alive().begin(envelope, key: key, at: at)
    }
    func finish(_ answer: StoredAnswer) async throws(StoreError) { try await alive().finish(answer) }
    func unanswered() async throws(StoreError) -> [(key: String, envelope: CommandEnvelope)] {
        try await alive().unanswered()
    }
    func pending(_ lane: Lane, after: Int64, limit: Int) async throws(StoreError) -> [Fact] {
        try await alive().pending(lane, after: after, limit: limit)
    }
    func pendingAnswers(after: Int64, limit: Int) async throws(StoreError) -> [(number: Int64, answer: StoredAnswer)] {
        try await alive().pendingAnswers(after: after, limit: limit)
    }
    func acknowledge(_ lane: Lane, through: Int64) async throws(StoreError) {
        try await alive().acknowledge(lane, through: through)
    }
    func facts(_ numbers: ClosedRange<Int64>, limit: Int) async throws(StoreError) -> [Fact] {
        try await alive().facts(numbers, limit: limit)
    }
    func statistics() async throws(StoreError) -> StoreStatistics { try await alive().statistics() }
    func clean(at: Timestamp, byAge: Bool) async throws(StoreError) -> Bool {
        try await alive().clean(at: at, byAge: byAge)
    }
    func forget(_ device: DeviceID) async throws(StoreError) { try await alive().forget(device) }
    func knownDevices() async throws(StoreError) -> [DeviceID] { try await alive().knownDevices() }
}
