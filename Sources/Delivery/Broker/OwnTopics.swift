import Concurrency
package import Contract
import MQTT
import Synchronization
package import Vitals

/// What the broker gives back of the gateway's own topics, by one subscription to every `info`.
///
/// The echo of `gateway/info` says that the broker takes what the gateway publishes: with MQTT 3.1.1 it acknowledges also what its
/// access list refuses, and drops it. The `info` of a device that is not configured is of an earlier store: this one does not know it.
package final class OwnTopics: Sendable {
    /// The time after which the echo of `gateway/info` is missed: as long as the answer to a subscription may take.
    package static let echoLimit: Duration = .seconds(10)
    /// Devices of an earlier store that wait to be cleared. The next connection finds those beyond this limit.
    package static let maximumFound = 256

    private struct State {
        /// When the echo of this connection is missed; `nil` if none is expected, or it has come.
        var echoDueAt: Duration?
        var isEchoMissing = false
        var notice = RepeatedNotice()
        var found: Set<DeviceID> = []
    }
    private let topics: ContractTopics
    private let state = Mutex(State())
    private let arrival = Signal()
    /// The topic filter to subscribe to.
    let filter: String
    /// What the `info` of a device begins with, of any version.
    private static let mark = Array(#"{"schema":"vitals2mqtt.info/"#.utf8)

    package init(_ topics: ContractTopics) {
        self.topics = topics
        filter = topics.infoFilter
    }

    /// Whether the last connection missed the echo, and none has come since.
    package var isEchoMissing: Bool { state.withLock { $0.isEchoMissing } }

    /// A connection begins, without the subscription yet.
    func connect() { state.withLock { $0.echoDueAt = nil } }

    /// The broker has answered the subscription.
    /// - Parameter expectsEcho: whether `gateway/info`, which follows, must come back. With MQTT 5 a refusal says more.
    func subscribed(expectsEcho: Bool, at uptime: Duration) {
        state.withLock { state in
            state.echoDueAt = expectsEcho ? uptime + Self.echoLimit : nil
            if !expectsEcho { state.isEchoMissing = false }
        }
    }

    /// Whether the echo of this connection is missed now, once for each, and whether that is to be said; `nil` if not.
    func takeMissed(at uptime: Duration) -> (isDue: Bool, count: Int)? {
        state.withLock { state in
            guard let due = state.echoDueAt, uptime >= due else { return nil }
            state.echoDueAt = nil
            state.isEchoMissing = true
            let isDue = state.notice.isDue(at: uptime)
            return (isDue: isDue, count: state.notice.count)
        }
    }

    /// Takes a message of the subscription. Returns whether it is one.
    func receive(_ message: InboundMessage) -> Bool {
        guard let owner = topics.owner(ofInfo: message.topic) else { return false }
        if owner == DeviceID.reserved {
            // One that the broker kept may be of a time when it took it.
            if !message.isRetained {
                state.withLock { state in
                    state.echoDueAt = nil
                    state.isEchoMissing = false
                    state.notice = RepeatedNotice()
                }
            }
        } else if message.isRetained, message.payload.starts(with: Self.mark), let device = DeviceID(owner) {
            let isNew = state.withLock { state in
                state.found.count < Self.maximumFound && state.found.insert(device).inserted
            }
            if isNew { arrival.wake() }
        }
        return true
    }

    /// Waits for kept messages of devices, and takes the devices; none if the task is cancelled.
    package func found() async -> [DeviceID] {
        await arrival.wait()
        return state.withLock { state in
            defer { state.found = [] }
            return state.found.sorted()
        }
    }
}
