import Contract
import Engines
import Synchronization
import Vitals

/// The newest value of every state topic, and which of them still have to be published. However fast a state changes,
/// it waits here once.
final class StateBoard: Sendable {
    /// What is published.
    enum Entry: Sendable {
        case device(DeviceID, DeviceState)
        case gatewayInfo(GatewayInfo)
        case gatewayState(GatewayState)
        /// A message that was made elsewhere: discovery, or a topic that is emptied.
        case message(OutgoingMessage)
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

    /// Messages that are sent once may wait in this number; what is over it waits for room.
    static let maximumOnce = 512

    private struct State {
        var entries: [Key: Entry] = [:]
        /// Every key in the order in which it first came, which is the order after a new connection.
        var order: [Key] = []
        var dirty: Set<Key> = []
        var queue: [Key] = []
        var head = 0
        var onceCount = 0
        var nextOnce = 0
        var isConnected = false
    }
    private let state = Mutex(State())
    private let wakeup: Wakeup
    private let room = Wakeup()

    init(wakeup: Wakeup) { self.wakeup = wakeup }

    func put(_ entry: Entry) {
        let key: Key =
            switch entry {
            case .device(let device, let state): .device(device, state.part)
            case .gatewayInfo: .gatewayInfo
            case .gatewayState: .gatewayState
            case .message(let message): .topic(message.topic)
            case .replay: .gatewayInfo
            }
        state.withLock { state in
            if state.entries.updateValue(entry, forKey: key) == nil, entry.isKept { state.order.append(key) }
            if state.dirty.insert(key).inserted { state.queue.append(key) }
        }
        wakeup.wake()
    }

    /// Sends something once. It is dropped where no broker is connected, or too much waits already.
    /// Returns whether there was room.
    @discardableResult
    func putOnce(_ entry: Entry) -> Bool {
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
        wakeup.wake()
        return isTaken
    }

    /// Waits until more can be sent once. Only one task may wait at a time.
    func waitForRoom() async { await room.wait() }

    var isConnected: Bool { state.withLock { $0.isConnected } }

    /// A connection is open: everything is published again.
    func connect() {
        state.withLock { state in
            state.isConnected = true
            for (key, entry) in state.entries where !entry.isKept { state.entries[key] = nil }
            // The state of before the connection would deny it for ten seconds.
            if case .gatewayState(var gateway)? = state.entries[.gatewayState] {
                gateway.broker = GatewayState.connected
                state.entries[.gatewayState] = .gatewayState(gateway)
            }
            state.queue = state.order
            state.head = 0
            state.dirty = Set(state.order)
        }
    }

    func disconnect() {
        state.withLock { state in
            state.isConnected = false
            for (key, _) in state.entries { if case .once = key { state.entries[key] = nil } }
            state.onceCount = 0
        }
        room.wake()
    }

    /// What is to be published next, `nil` where nothing is.
    func next() -> Entry? {
        let (entry, madeRoom) = state.withLock { state -> (Entry?, Bool) in
            while state.head < state.queue.count {
                let key = state.queue[state.head]
                state.head += 1
                if state.head == state.queue.count {
                    state.queue.removeAll(keepingCapacity: true)
                    state.head = 0
                } else if state.head >= 1024 {
                    state.queue.removeFirst(state.head)
                    state.head = 0
                }
                guard state.dirty.remove(key) != nil, let entry = state.entries[key] else { continue }
                guard case .once = key else {
                    if !entry.isKept { state.entries[key] = nil }
                    return (entry, false)
                }
                state.entries[key] = nil
                state.onceCount -= 1
                return (entry, state.onceCount < Self.maximumOnce / 2)
            }
            return (nil, false)
        }
        if madeRoom { room.wake() }
        return entry
    }

    /// Forgets the states of a device that was removed.
    func forget(_ device: DeviceID) {
        forget { if case .device(let owner, _) = $0 { owner == device } else { false } }
    }

    /// Forgets whatever stands under these topics.
    func forget(topics: [String]) {
        let gone = Set(topics)
        forget { if case .topic(let topic) = $0 { gone.contains(topic) } else { false } }
    }

    private func forget(_ isGone: (Key) -> Bool) {
        state.withLock { state in
            state.order.removeAll(where: isGone)
            for key in state.entries.keys.filter(isGone) {
                state.entries[key] = nil
                state.dirty.remove(key)
            }
        }
    }

    /// The newest `info` of a device, for the messages about it.
    func info(of device: DeviceID) -> DeviceInfo? {
        state.withLock { state in
            guard case .device(_, .info(let info)) = state.entries[.device(device, .info)] else { return nil }
            return info
        }
    }

    /// The newest `info` of every device, in the order of their ids.
    var infos: [DeviceInfo] {
        state.withLock { state in
            state.entries.values.compactMap { entry in
                if case .device(_, .info(let info)) = entry { info } else { nil }
            }
        }.sorted { $0.id < $1.id }
    }

    /// Publishes a device's configuration once more, unchanged: a control in a user interface falls back.
    func repeatConfig(of device: DeviceID) {
        let entry = state.withLock { $0.entries[.device(device, .config)] }
        if let entry { put(entry) }
    }

    /// Publishes everything once more.
    func repeatAll() {
        state.withLock { state in
            for key in state.order where state.dirty.insert(key).inserted { state.queue.append(key) }
        }
        wakeup.wake()
    }

    /// Whether something that is sent once still waits.
    var hasOnce: Bool { state.withLock { $0.onceCount > 0 } }
}

extension StateBoard.Entry {
    /// Whether it is kept for the next connection. Discovery is large, and made anew then; an emptied topic is neither.
    fileprivate var isKept: Bool {
        if case .message(let message) = self { message.payload.isEmpty } else { true }
    }
}
