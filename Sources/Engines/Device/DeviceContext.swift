package import Concurrency
import GatewayKit
import Logging
package import Vitals

/// The device's identity and surroundings, for every part of its agent.
///
/// All parts of an agent share one: a gateway may have thousands of agents.
final class DeviceContext: Sendable {
    let id: DeviceID
    /// Whose the device's samples are.
    let wearers: Wearers
    let policy: DevicePolicy
    let store: any DeviceStore
    let output: DeviceOutput
    let clock: GatewayClock
    /// Held by the agent that reads its state at the start.
    let restoring: AsyncMutex
    let logger: Logger
    /// Fulfilled when the agent has to end.
    let stopping = Promise<Void>()

    init(
        id: DeviceID, wearers: Wearers, policy: DevicePolicy, store: any DeviceStore, output: DeviceOutput,
        clock: GatewayClock, restoring: AsyncMutex, logger: Logger
    ) {
        self.restoring = restoring
        self.id = id
        self.wearers = wearers
        self.policy = policy
        self.store = store
        self.output = output
        self.clock = clock
        self.logger = logger
    }

    /// Whether the agent has to end.
    var isStopping: Bool { stopping.value != nil }

    /// The current local day.
    var today: LocalDay { policy.calendar.day(of: clock.now) }

    /// Publishes a part of the device's state.
    func publish(_ state: DeviceState) { output.state(id, state) }

    /// Stores changed parts of the device's state. Logs a failure; the part is then stored with its next change.
    func save(_ changes: [DeviceChange]) async {
        do throws(StoreError) { try await store.save(changes, of: id) } catch {
            logger.error("The device's state cannot be stored.", metadata: ["error": "\(error)"])
        }
    }

    /// Waits for a time, or until the agent has to end. Returns whether to continue.
    func pause(for duration: Duration) async -> Bool {
        await clock.withTimeout(duration) { [stopping] in _ = try? await stopping.wait() }
        return !isStopping && !Task.isCancelled
    }
}

/// Where a device's engines report what consumers should know.
package struct DeviceOutput: Sendable {
    /// Reports a changed part of the state. Returns at once.
    package var state: @Sendable (DeviceID, DeviceState) -> Void
    /// Answers a command, with `accepted` or finally.
    package var answer: @Sendable (_ key: String, Answer) async -> Void

    /// Reports that a connection has to end; the promise is fulfilled when it has. Returns at once.
    package var ending: @Sendable (DeviceID, Promise<Void>) -> Void

    package init(
        state: @escaping @Sendable (DeviceID, DeviceState) -> Void,
        answer: @escaping @Sendable (_ key: String, Answer) async -> Void,
        ending: @escaping @Sendable (DeviceID, Promise<Void>) -> Void = { _, _ in }
    ) {
        self.state = state
        self.answer = answer
        self.ending = ending
    }
}

/// The settings by which a device's engines decide.
package struct DevicePolicy: Sendable {
    package var sync: SyncPolicy
    package var alerts: AlertPolicy
    /// How long a metric's value is fresh; a metric without entry is always fresh.
    package var freshness: [Metric: Duration]
    /// Silence after which a device is offline.
    package var offlineAfter: Duration
    package var calendar: LocalCalendar
    /// Since when samples are taken, whatever was erased; `nil` without such a date.
    package var from: Timestamp?
    /// How it is found out whose samples are; `nil` if the device says it, or has one wearer.
    package var attribution: Attribution?

    package init(
        sync: SyncPolicy = SyncPolicy(), alerts: AlertPolicy = AlertPolicy(),
        freshness: [Metric: Duration] = Dictionary(
            uniqueKeysWithValues: Metric.allCases.compactMap { metric in metric.defaultFreshness.map { (metric, $0) } }),
        offlineAfter: Duration = .hours(24), calendar: LocalCalendar
    ) {
        self.sync = sync
        self.alerts = alerts
        self.freshness = freshness
        self.offlineAfter = offlineAfter
        self.calendar = calendar
    }
}
