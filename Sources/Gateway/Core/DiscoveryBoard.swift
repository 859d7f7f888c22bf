import Contract
import Engines
import GatewayKit
import HomeAssistant
import Synchronization
import Vitals

/// Keeps Home Assistant's discovery in step with the devices.
///
/// With the first connection it is not announced at once: what an earlier run announced in another way has to be taken back before,
/// or Home Assistant refuses the second announcement of an entity.
final class DiscoveryBoard: Sendable {
    private struct State {
        /// The topics under which each device is announced; `nil` is the gateway itself.
        var topics: [DeviceID?: Set<String>] = [:]
        var infos: [DeviceID: DeviceInfo] = [:]
        var generator = SplitMix64(seed: 0x5EED)
        /// Whether there was a connection, whether it is announced already, and whether `migrate` has to announce it.
        var wasConnected = false
        var isOpen = false
        var isDue = true
        /// Topics that an earlier run left, and of which it is not known yet whether they are true.
        var leftovers: Set<String> = []
        /// Topics of the other way of discovery, whose entities Home Assistant was told to let go of.
        var migrated: Set<String> = []
        /// Topics that are to be emptied as soon as Home Assistant does not look at them any more.
        var outdated: Set<String> = []
    }
    private let state = Mutex(State())
    private let board: StateBoard
    private let settings: DiscoverySettings
    /// Says that there may be something to migrate.
    let sweeps = Wakeup()

    /// So long is waited for what an earlier run left, which the broker sends as soon as it is subscribed to; and again until topics are
    /// emptied, so that Home Assistant has let go of their entities: it would complain of a state that is empty.
    static let settling: Duration = .seconds(1)
    /// As many topics as a thousand devices have, by one message for each entity. What is over it is found at the next start.
    static let maximumLeftovers = 100_000

    init(board: StateBoard, settings: DiscoverySettings) {
        self.board = board
        self.settings = settings
    }

    /// Every topic that something is announced under now.
    var topics: Set<String> { state.withLock { $0.topics.values.reduce(into: []) { $0.formUnion($1) } } }

    /// The broker is connected: everything is announced, at the first time after a moment.
    func connected() {
        state.withLock { $0.wasConnected = true }
        publishAll()
        sweeps.wake()
    }

    /// A device's description may have changed. One that never connected is not announced: nobody knows what it can do.
    func changed(_ info: DeviceInfo) {
        let (isNew, migrates, old) = state.withLock { state in
            let old = state.infos.updateValue(info, forKey: info.id)
            let migrates = state.leftovers.contains { settings.isTopic($0, of: info.id.text) }
            if migrates { state.isDue = true }
            return (state.isOpen && old != info, migrates, old)
        }
        guard isNew else { return }
        if migrates { sweeps.wake() } else { announce(info, replacing: old) }
    }

    /// Announces the gateway and every device.
    func publishAll() {
        guard state.withLock({ $0.isOpen }) else { return }
        announce(settings.gatewayMessages, of: nil)
        // One that became known after the last look at what is left is announced after the next one.
        let leftovers = state.withLock { $0.leftovers }
        for info in known where !leftovers.contains(where: { settings.isTopic($0, of: info.id.text) }) {
            announce(info)
        }
    }

    /// Home Assistant was started: everything is announced again, not quite at once, since others do the same.
    func publishAgain(_ clock: GatewayClock) async {
        let wait = state.withLock { Double.random(in: 1...5, using: &$0.generator) }
        do { try await clock.sleep(for: .milliseconds(Int(wait * 1000))) } catch { return }
        publishAll()
        board.repeatAll()
    }

    /// A device was removed: what announced it is emptied, and after a moment its other topics.
    func removed(_ device: DeviceID, topics: [String]) {
        let announced = state.withLock { state in
            state.infos[device] = nil
            state.outdated.formUnion(topics)
            return state.topics.removeValue(forKey: device) ?? []
        }
        for topic in announced.sorted() { board.put(.message(.removal(of: topic))) }
        sweeps.wake()
    }

    /// A removed device came back: its topics are not emptied.
    func spare(_ topics: [String]) { state.withLock { $0.outdated.subtract(topics) } }

    /// An earlier run left a message under a topic.
    func found(_ topic: String) {
        state.withLock { state in
            if state.leftovers.count < Self.maximumLeftovers { state.leftovers.insert(topic) }
        }
        sweeps.wake()
    }

    /// Takes back what an earlier run announced otherwise, before it is announced as it is now.
    ///
    /// What stands about a configured device may still be true until it is known what that can do. Where discovery is off, nothing is.
    /// Returns whether Home Assistant needs a moment before `announceDue`.
    func migrate(devices: [DeviceID]) -> Bool {
        guard state.withLock({ $0.wasConnected }) else { return false }
        let known = known
        let unknown =
            settings.announces ? Set(devices).subtracting(known.filter { $0.capabilities != nil }.map(\.id)) : []
        let messages = settings.gatewayMessages + known.flatMap { settings.messages(for: $0, replacing: nil) }
        let current = Set(messages.map(\.topic))
        let outdated = state.withLock { state in
            let left = state.leftovers.subtracting(current)
            state.leftovers = left.filter { topic in unknown.contains { settings.isTopic(topic, of: $0.text) } }
            let outdated = left.subtracting(state.leftovers)
            if !outdated.isEmpty { state.isDue = true }
            return outdated
        }
        var migrates = false
        // Of what is not configured any more the entities are to go.
        let names = [DeviceID.reserved] + known.map(\.id.text)
        for topic in outdated.sorted() {
            let isConfigured = names.contains { settings.isTopic(topic, of: $0) }
            if isConfigured, let migration = settings.migration(of: topic) {
                board.put(.message(migration))
                state.withLock { _ = $0.migrated.insert(topic) }
                migrates = true
            } else {
                board.put(.message(.removal(of: topic)))
            }
        }
        return migrates
    }

    /// Empties the topics that entities were let go of. Once these are announced in the new way, Home Assistant takes
    /// whatever comes on the old topic, also nothing, for a second announcement, and complains.
    func emptyMigrated() {
        let topics = state.withLock { state -> Set<String> in
            defer { state.migrated = [] }
            return state.migrated
        }
        for topic in topics.sorted() { board.put(.message(.removal(of: topic))) }
    }

    /// Announces everything where that is due.
    func announceDue() {
        let isDue = state.withLock { state in
            guard state.wasConnected else { return false }
            defer { (state.isOpen, state.isDue) = (true, false) }
            return state.isDue
        }
        if isDue { publishAll() }
    }

    /// Empties what Home Assistant does not look at any more.
    func emptyOutdated() {
        let topics = state.withLock { state -> Set<String> in
            guard state.wasConnected else { return [] }
            defer { state.outdated = [] }
            return state.outdated
        }
        for topic in topics.sorted() { board.put(.message(.removal(of: topic))) }
    }

    private var known: [DeviceInfo] { state.withLock { $0.infos.values.sorted { $0.id < $1.id } } }

    private func announce(_ info: DeviceInfo, replacing old: DeviceInfo? = nil) {
        guard info.capabilities != nil else { return }
        announce(settings.messages(for: info, replacing: old), of: info.id)
    }

    private func announce(_ messages: [OutgoingMessage], of device: DeviceID?) {
        let topics = Set(messages.filter { !$0.payload.isEmpty }.map(\.topic))
        let gone = state.withLock { state in
            let before = state.topics.updateValue(topics, forKey: device) ?? []
            return before.subtracting(topics)
        }
        for topic in gone.sorted() { board.put(.message(.removal(of: topic))) }
        for message in messages { board.put(.message(message)) }
    }
}
