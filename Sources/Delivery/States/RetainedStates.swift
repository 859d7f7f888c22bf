import Concurrency
import Contract
import DequeModule
package import MQTT
import Synchronization
package import Vitals

/// The newest value of every state topic, and which of them still have to be published. However fast a state changes,
/// it waits here once.
package final class RetainedStates: Sendable {
    /// A message to publish.
    package indirect enum Entry: Sendable {
        case device(DeviceID, DeviceState)
        case gatewayInfo(GatewayInfo)
        case gatewayState(GatewayState)
        /// A message made elsewhere: discovery, or the clearing of a topic.
        case message(OutgoingMessage)
        /// The clearing of a topic of an earlier run. It is sent once: while the topic exists, the broker sends it
        /// at each connection.
        case stale(topic: String)
        /// A fact that is sent again.
        case replay(Fact)
    }

    private enum Key: Hashable {
        case device(DeviceID, DeviceState.Part)
        case gatewayInfo, gatewayState
        case topic(String)
        /// A message that is sent once and not again with the next connection.
        case once(Int)
    }

    /// Maximum waiting messages that are sent once; further ones wait for room.
    static let maximumOnce = 512

    private struct State {
        var entries: [Key: Entry] = [:]
        /// Every key in the order in which it first came, which is the order after a new connection; but the gateway's info is first:
        /// it names the store, without which a consumer takes the numbers of a new one for old ones.
        var order: [Key] = []
        var dirty: Set<Key> = []
        var queue: Deque<Key> = []
        var onceCount = 0
        var nextOnce = 0
        var isConnected = false
        /// How often an entry has come, or the connection has changed.
        var changes = 0
    }
    private let state = Mutex(State())
    private let wakeup: Signal
    private let room = Signal()

    init(wakeup: Signal) { self.wakeup = wakeup }

    /// States that are sent between the entries of an outbox.
    package convenience init(beside outbox: Outbox) { self.init(wakeup: outbox.wakeup) }

    package func put(_ entry: Entry) {
        let key: Key =
            switch entry {
            case .device(let device, let state): .device(device, state.part)
            case .gatewayInfo: .gatewayInfo
            case .gatewayState: .gatewayState
            case .message(let message): .topic(message.topic)
            case .stale(let topic): .topic(topic)
            case .replay: .gatewayInfo
            }
        let isNews = state.withLock { state in
            state.changes += 1
            if state.entries.updateValue(entry, forKey: key) == nil, entry.isKept {
                state.order.insert(key, at: key == .gatewayInfo ? 0 : state.order.count)
            }
            let isNews = state.dirty.insert(key).inserted
            if isNews { state.queue.append(key) }
            return isNews
        }
        // One that waits already has woken the publisher.
        if isNews { wakeup.wake() }
    }

    /// Sends an entry once. Drops it if no broker is connected or too many already wait.
    /// Returns whether there was room.
    @discardableResult
    package func putOnce(_ entry: Entry) -> Bool {
        let isTaken = state.withLock { state in
            guard state.isConnected, state.onceCount < Self.maximumOnce else { return false }
            let key = Key.once(state.nextOnce)
            state.nextOnce += 1
            state.onceCount += 1
            state.entries[key] = entry
            state.dirty.insert(key)
            state.queue.append(key)
            return true
        }
        if isTaken { wakeup.wake() }
        return isTaken
    }

    /// Sends an entry once, and waits for room as long as a broker is connected and the task is not cancelled.
    /// Returns whether there was room.
    package func putOnceWithRoom(_ entry: Entry) async -> Bool {
        while !putOnce(entry) {
            guard isConnected, !Task.isCancelled else {
                // Another task may wait for what woke this one.
                room.wake()
                return false
            }
            await room.wait()
        }
        return true
    }

    package var isConnected: Bool { state.withLock { $0.isConnected } }

    /// How often an entry has come or gone, or the connection has changed, since the start. Whoever shows states looks at it now and then.
    package var changes: Int { state.withLock { $0.changes } }

    /// Whether an entry waits for a connection's publisher.
    package var hasWork: Bool {
        state.withLock { state in
            state.isConnected && state.queue.contains { state.dirty.contains($0) && state.entries[$0] != nil }
        }
    }

    /// Begins a connection with this version of MQTT: publishes everything again.
    func connect(_ version: MQTTVersion = .v5) {
        state.withLock { state in
            state.isConnected = true
            state.changes += 1
            for (key, entry) in state.entries where !entry.isKept { state.entries[key] = nil }
            // The state from before the connection would deny it for ten seconds.
            if case .gatewayState(var gateway)? = state.entries[.gatewayState] {
                gateway.describe(version)
                state.entries[.gatewayState] = .gatewayState(gateway)
            }
            state.queue = Deque(state.order)
            state.dirty = Set(state.order)
        }
    }

    func disconnect() {
        state.withLock { state in
            state.isConnected = false
            state.changes += 1
            for (key, _) in state.entries { if case .once = key { state.entries[key] = nil } }
            state.onceCount = 0
        }
        room.wake()
    }

    /// The next entry to publish; `nil` when there is none.
    func next() -> Entry? {
        let (entry, madeRoom) = state.withLock { state -> (Entry?, Bool) in
            while let key = state.queue.popFirst() {
                guard state.dirty.remove(key) != nil, let entry = state.entries[key] else { continue }
                guard case .once = key else {
                    if !entry.isKept { state.entries[key] = nil }
                    return (entry, false)
                }
                state.entries[key] = nil
                state.onceCount -= 1
                return (entry, state.onceCount < Self.maximumOnce / 2)
            }
            // A connection publishes everything; between, few states wait.
            if state.dirty.capacity > Self.maximumOnce { (state.queue, state.dirty) = ([], []) }
            return (nil, false)
        }
        if madeRoom { room.wake() }
        return entry
    }

    /// Forgets the states of a device that was removed.
    package func forget(_ device: DeviceID) {
        forget { if case .device(let owner, _) = $0 { owner == device } else { false } }
    }

    /// Forgets the messages of these topics.
    package func forget(topics: [String]) {
        let gone = Set(topics)
        forget { if case .topic(let topic) = $0 { gone.contains(topic) } else { false } }
    }

    private func forget(_ isGone: (Key) -> Bool) {
        state.withLock { state in
            state.changes += 1
            state.order.removeAll(where: isGone)
            // A place in the queue that is left would be taken by a later value, before what comes meanwhile.
            state.queue.removeAll(where: isGone)
            for key in state.entries.keys.filter(isGone) {
                state.entries[key] = nil
                state.dirty.remove(key)
            }
        }
    }

    /// The newest `info` of a device, for the messages about it.
    package func info(of device: DeviceID) -> DeviceInfo? {
        state.withLock { state in
            guard case .device(_, .info(let info)) = state.entries[.device(device, .info)] else { return nil }
            return info
        }
    }

    /// The newest states of a device, of those of these parts that it has. It holds up no publication for longer than this look.
    package func states(of device: DeviceID, _ parts: [DeviceState.Part]) -> [DeviceState] {
        state.withLock { state in
            parts.compactMap { part -> DeviceState? in
                guard case .device(_, let found) = state.entries[.device(device, part)] else { return nil }
                return found
            }
        }
    }

    /// The devices that the newest `gateway/info` names.
    package var devices: [DeviceID] {
        state.withLock { state in
            guard case .gatewayInfo(let info) = state.entries[.gatewayInfo] else { return [] }
            return info.devices
        }
    }

    /// Publishes a device's configuration once more, unchanged: a control in a user interface falls back.
    package func repeatConfig(of device: DeviceID) {
        let entry = state.withLock { $0.entries[.device(device, .config)] }
        if let entry { put(entry) }
    }

    /// Publishes the gateway's info once more, unchanged: its echo says whether the broker takes it.
    func repeatInfo() {
        let entry = state.withLock { $0.entries[.gatewayInfo] }
        if let entry { put(entry) }
    }

    /// Publishes everything once more.
    package func repeatAll() {
        state.withLock { state in
            for key in state.order where state.dirty.insert(key).inserted { state.queue.append(key) }
        }
        wakeup.wake()
    }

    /// Whether an entry that is sent once still waits.
    package var hasOnce: Bool { state.withLock { $0.onceCount > 0 } }
}

extension GatewayState {
    /// Has the members about the connection say which version of MQTT it speaks; `nil` for no connection.
    package mutating func describe(_ version: MQTTVersion?) {
        broker = version == nil ? nil : Self.connected
        protocolVersion = version?.rawValue
    }
}

extension RetainedStates.Entry {
    /// Whether the next connection needs it. Discovery is large and made anew then; a cleared topic is neither.
    fileprivate var isKept: Bool {
        switch self {
        case .message(let message): message.payload.isEmpty
        case .stale: false
        default: true
        }
    }
}
