import Concurrency
import GatewayKit
import Vitals

/// A device that the gateway wants to connect, or wanted to lately.
struct ExpectedDevice: Sendable {
    /// How long an advertisement still counts for the gateway's next attempt after its last one: longer than the longest wait
    /// between two attempts (5 minutes).
    static let memory: Duration = .minutes(10)
    /// How long after an advertisement the device can be connected without another one: it is in reach and awake.
    static let freshness: Duration = .seconds(5)
    /// The longest time for which the adapter listens for others after this device could not be connected. BlueZ gives up an attempt
    /// after this time.
    static let longestRest: Duration = .seconds(20)

    enum State: Sendable {
        /// Until the device advertises: the promise gets its object.
        case waiting(Promise<Result<String, LinkError>>)
        /// The device is being connected, or is connected, or a periodic connection is over and the next not due.
        case settled
        /// The gateway waits for the next attempt. An advertisement ends that.
        case paused(until: Duration)
    }

    var target: DeviceTarget
    /// Reports to the gateway that the device is in reach.
    var presence: DevicePresence
    var state: State
    /// The object of the device, and when it was last heard.
    var heard: (path: String, at: Duration)?
    /// When the next periodic connection is due.
    var dueAt: Duration = .zero
    /// How many periodic connections in a row broke.
    var brokenConnections = 0
    /// Until when its advertisements do not count while others are listened for, since it could not be connected.
    var restsUntil: Duration = .zero

    /// Whether the device has to be listened for.
    func isListenedFor(at now: Duration) -> Bool {
        switch state {
        case .waiting: true
        case .settled: false
        case .paused(let until): now < until
        }
    }
}
