import Concurrency
import GatewayKit
import Logging
import Vitals

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
