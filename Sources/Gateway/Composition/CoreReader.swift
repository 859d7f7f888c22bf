import Delivery
import Store
import Synchronization
import Vitals
import Web

/// What the API and the pages read of the gateway. It asks the store's reader, which waits for no writer, and what the core has in memory.
struct CoreReader: GatewayReader {
    /// All parts of a device's state.
    static let parts: [DeviceState.Part] =
        [.info, .availability, .link, .config, .sync, .measure, .wear, .pairing, .whose]
        + Metric.allCases.flatMap { [.latest($0), .today($0)] } + AlertRule.all.map { .level($0) }

    private let core: GatewayCore
    private let store: SQLiteStore

    init(of core: GatewayCore, _ store: SQLiteStore) {
        self.core = core
        self.store = store
    }

    var devices: [ConfiguredDevice] {
        core.configured.withLock { $0 }.map {
            ConfiguredDevice(id: $0.id, name: $0.name, driver: $0.driver, person: $0.person, people: $0.people)
        }
    }

    func states(of device: DeviceID) async -> [DeviceState] { core.retained.states(of: device, Self.parts) }

    func samples(
        of device: DeviceID, _ metric: Metric, starting range: Range<Timestamp>, after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample] {
        try await store.history(of: device, metric, starting: range, after: after, limit: limit)
    }

    func dayRecords(
        of device: DeviceID, _ metric: Metric, _ days: ClosedRange<LocalDay>, limit: Int
    ) async throws(StoreError) -> [DayRecord] {
        var records = try await store.days(of: device, metric: metric, in: days, limit: limit)
        if case .today(let today)? = core.retained.states(of: device, [.today(metric)]).first,
            days.contains(today.summary.day)
        {
            // The store has the running day only where its summary was asked for.
            records.removeAll { $0.summary.day == today.summary.day }
            records.append(today)
            records.sort { $0.summary.day < $1.summary.day }
        }
        return Array(records.prefix(limit))
    }

    func alerts(of device: DeviceID, before: Timestamp, limit: Int) async throws(StoreError) -> [AlertEvent] {
        try await store.edges(of: device, before: before, limit: limit)
    }

    func gaps(of device: DeviceID, limit: Int) async throws(StoreError) -> [Gap] {
        try await store.gaps(of: device, limit: limit)
    }
}
