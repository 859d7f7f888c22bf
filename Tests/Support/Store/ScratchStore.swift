import Concurrency
import Foundation
package import GatewayTesting
package import Store
import Synchronization
package import Vitals

/// The real store in memory-backed storage, behind a `FaultyStore`, for tests. It exists as long as this value.
///
/// Its folder is in `/dev/shm` if the system has that: thousands of tests would wear out a disk, and they do not test
/// power failures.
package final class ScratchStore: Sendable {
    /// The scripted fault of a call, by the call and its number from 1.
    package typealias Faults = @Sendable (_ call: FaultyStore.Call, _ number: Int) -> FaultyStore.Fault?

    private struct State {
        var entries: [OutboxEntry] = []
        var faults: Faults?
    }

    /// The store without scripted failures.
    package let base: any GatewayStore
    /// The same store as an import of statistics sees it, without scripted failures.
    package let statistics: any StatisticsStore
    /// The store that fails as set by `fail` and `script`.
    package let store: FaultyStore
    private let folder: URL
    private let state: RecordedState

    /// State shared with closures that outlive the initialiser.
    private final class RecordedState: Sendable {
        let value = Mutex(State())
    }

    /// Creates a store.
    /// - Parameters:
    ///   - simulation: the one whose executor runs it; without one it has its own threads.
    ///   - committed: called with the entries of each commit, in order.
    package init(
        _ simulation: Simulation? = nil, options: StoreOptions = StoreOptions(),
        committed: @escaping @Sendable ([OutboxEntry]) -> Void = { _ in }
    ) throws {
        let memory = "/dev/shm"
        let parent =
            FileManager.default.isWritableFile(atPath: memory)
            ? URL(filePath: memory) : FileManager.default.temporaryDirectory
        folder = parent.appending(path: "vitals2mqtt-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let state = RecordedState()
        let sqlite = try SQLiteStore(
            path: folder.appending(path: "vitals.sqlite").path, options: options,
            executor: Self.executor(simulation, "store.writer"),
            reading: Self.executor(simulation, "store.reader"), pause: Self.pause(simulation),
            now: simulation?.date ?? Simulation.defaultStart, newIdentity: SampleID(high: 1, low: 1)
        ) { entries in
            state.value.withLock { $0.entries += entries }
            committed(entries)
        }
        (base, statistics) = (sqlite, sqlite)
        self.state = state
        store = FaultyStore(base) { call, number in state.value.withLock { $0.faults }?(call, number) }
    }

    private static func executor(_ simulation: Simulation?, _ label: String) -> any SerialExecutor {
        if let simulation { simulation.executor.serialExecutor() } else { QueueExecutor(label: label) }
    }

    private static func pause(_ simulation: Simulation?) -> @Sendable (Duration) async -> Void {
        guard let clock = simulation?.gatewayClock else {
            return { try? await Task.sleep(for: $0, clock: .continuous) }
        }
        return { try? await clock.sleep(for: $0) }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Sets the scripted faults from now on.
    package func script(_ faults: @escaping Faults) { state.value.withLock { $0.faults = faults } }

    /// Makes calls fail with an error from now on; `nil` lets all succeed.
    package func fail(_ error: (@Sendable (FaultyStore.Call) -> StoreError?)?) {
        var faults: Faults?
        if let error {
            faults = { call, _ in error(call).map { FaultyStore.Fault.failure($0) } }
        }
        state.value.withLock { [faults] in $0.faults = faults }
    }

    /// Every committed entry, in the order of commits.
    package var entries: [OutboxEntry] { state.value.withLock { $0.entries } }
    /// Every committed fact, in the order of numbers.
    package var facts: [Fact] { entries.compactMap(\.fact) }

    /// The stored data of a device, except its samples.
    package func record(of device: DeviceID) async throws -> DeviceRecord { try await base.load(device) }

    /// Every sample of a device, by metric name, and within each by (start, end, user-initiated).
    package func samples(of device: DeviceID) async throws -> [StoredSample] {
        var samples: [StoredSample] = []
        for metric in Metric.allCases.sorted(by: { $0.rawValue < $1.rawValue }) {
            samples += try await base.samples(
                of: device, metric: metric, starting: Timestamp(milliseconds: 0)..<Timestamp(seconds: 4_000_000_000),
                after: nil, limit: .max)
        }
        return samples
    }

    /// Every past day of a device, by metric name, and within each by day.
    package func days(of device: DeviceID) async throws -> [DayRecord] {
        let span = LocalDay(number: 0)...LocalDay(number: 50_000)
        var days: [DayRecord] = []
        for metric in Metric.allCases.sorted(by: { $0.rawValue < $1.rawValue }) {
            days += try await base.days(of: device, metric: metric, in: span, limit: .max)
        }
        return days
    }
}
