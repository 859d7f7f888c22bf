import Concurrency
import Contract
import HomeAssistant
import MQTT
import Synchronization
package import Vitals

/// Keeps Home Assistant's discovery in step with the devices.
///
/// The first connection does not announce them at once. Announcements that an earlier run made in another way must be
/// withdrawn first, or Home Assistant refuses the second announcement of an entity.
package final class DiscoveryPublisher: Sendable {
    private struct State {
        /// The announced topics of each device; `nil` is the gateway itself.
        var topics: [DeviceID?: Set<String>] = [:]
        var devices: [DeviceID: DiscoveredDevice] = [:]
        var generator = SplitMix64(seed: 0x5EED)
        /// Whether there was a connection, whether announcing has begun, and whether `migrate` has to begin it.
        var wasConnected = false
        var isOpen = false
        var isDue = true
        /// Topics of an earlier run that may or may not still be valid.
        var staleTopics: Set<String> = []
        /// How many of them were found on this connection.
        var foundCount = 0
        /// Topics of the other discovery mode, whose entities Home Assistant was asked to release.
        var migrated: Set<String> = []
        /// Topics to clear as soon as Home Assistant no longer reads them.
        var outdated: Set<String> = []

        /// Whether the device is known and not removed; the gateway itself, `nil`, always is.
        func has(_ device: DeviceID?) -> Bool { device.map { devices[$0] != nil } ?? true }
    }
    private let state = Mutex(State())
    private let retained: RetainedStates
    let settings: DiscoverySettings
    /// Signals a possible migration.
    let sweeps = Signal()
    /// Signals a start of Home Assistant.
    let homeAssistantStarts = Signal()

    /// Grace period for retained announcements of earlier runs to arrive after the subscription. The same period passes
    /// before topics are cleared, so that Home Assistant has released their entities: it would log empty states.
    static let settling: Duration = .seconds(1)
    /// The topics of a thousand devices, with one message per entity. The next connection finds those beyond this limit.
    static let maximumStaleTopics = 100_000
    /// Bytes of the topic of such a message. The gateway's own are half as long; a broker takes 65,535.
    static let maximumStaleTopicBytes = 512

    package init(retained: RetainedStates, settings: DiscoverySettings) {
        self.retained = retained
        self.settings = settings
    }

    /// All topics of current announcements.
    var topics: Set<String> { state.withLock { $0.topics.values.reduce(into: []) { $0.formUnion($1) } } }

    /// Announces everything to a newly connected broker; the first time after a grace period.
    package func connected() {
        state.withLock { state in
            state.wasConnected = true
            state.foundCount = 0
        }
        publishAll()
        sweeps.wake()
    }

    /// Handles a published state of a device, which may change its entities. A device that never connected is not
    /// announced: its abilities are unknown.
    package func changed(_ device: DeviceID, _ change: DeviceState) {
        guard change.determinesEntities else { return }
        let (new, migrates, old) = state.withLock { state -> (DiscoveredDevice?, Bool, DiscoveredDevice?) in
            let old = state.devices[device]
            guard let new = old.applying(change), new != old else { return (nil, false, nil) }
            state.devices[device] = new
            let migrates = state.staleTopics.contains { settings.isTopic($0, of: device.text) }
            if migrates { state.isDue = true }
            return (state.isOpen ? new : nil, migrates, old)
        }
        guard let new else { return }
        if migrates { sweeps.wake() } else { announce(new, replacing: old) }
    }

    /// Announces the gateway and every device.
    package func publishAll() {
        guard state.withLock({ $0.isOpen }) else { return }
        announce(settings.gatewayMessages, of: nil)
        // A device that became known after the last migration is announced after the next one.
        let staleTopics = state.withLock { $0.staleTopics }
        for device in known where !staleTopics.contains(where: { settings.isTopic($0, of: device.info.id.text) }) {
            announce(device)
        }
    }

    /// Announces everything again after a start of Home Assistant, with a random delay, since others do the same.
    func publishAgain(_ clock: GatewayClock) async {
        let wait = state.withLock { Double.random(in: 1...5, using: &$0.generator) }
        do { try await clock.sleep(for: .milliseconds(Int(wait * 1000))) } catch { return }
        publishAll()
        retained.repeatAll()
    }

    /// Clears a removed device's announcements, and its other topics after a grace period.
    package func removed(_ device: DeviceID, topics: [String]) {
        let announced = state.withLock { state in
            state.devices[device] = nil
            state.outdated.formUnion(topics)
            return state.topics.removeValue(forKey: device) ?? []
        }
        for topic in announced.sorted() { retained.put(.message(.removal(of: topic))) }
        sweeps.wake()
    }

    /// Keeps the topics of a removed device that came back.
    package func spare(_ topics: [String]) { state.withLock { $0.outdated.subtract(topics) } }

    /// Notes a topic with a message of an earlier run.
    func found(_ topic: String) {
        guard topic.utf8.count <= Self.maximumStaleTopicBytes else { return }
        let isNew = state.withLock { state in
            guard state.foundCount < Self.maximumStaleTopics, state.staleTopics.insert(topic).inserted else {
                return false
            }
            state.foundCount += 1
            return true
        }
        if isNew { sweeps.wake() }
    }

    /// Withdraws outdated announcements of an earlier run before the current ones are made.
    ///
    /// Announcements of a configured device may be valid until its abilities are known. With discovery off, none is.
    /// Returns whether Home Assistant needs a moment before `announceDue`.
    func migrate(devices: [DeviceID]) -> Bool {
        guard state.withLock({ $0.wasConnected }) else { return false }
        let known = known
        let unknown =
            settings.announces
            ? Set(devices).subtracting(known.filter { $0.info.capabilities != nil }.map(\.info.id)) : []
        var owners: [String: DeviceID?] = [:]
        for message in settings.gatewayMessages { owners[message.topic] = .some(nil) }
        for device in known {
            for message in settings.messages(for: device, replacing: nil) { owners[message.topic] = device.info.id }
        }
        let outdated = state.withLock { state in
            // What stays is the device's from now on: if it is removed before it is announced again, its topics are cleared.
            for topic in state.staleTopics {
                guard let owner = owners[topic], state.has(owner) else { continue }
                state.topics[owner, default: []].insert(topic)
            }
            let left = state.staleTopics.filter { topic in
                guard let owner = owners[topic] else { return true }
                // A device that has been removed since keeps nothing.
                return !state.has(owner)
            }
            state.staleTopics = left.filter { topic in unknown.contains { settings.isTopic(topic, of: $0.text) } }
            let outdated = left.subtracting(state.staleTopics)
            if !outdated.isEmpty { state.isDue = true }
            return outdated
        }
        var migrates = false
        // Entities of devices that are no longer configured must go.
        let names = [DeviceID.reserved] + known.map(\.info.id.text)
        for topic in outdated.sorted() {
            let isConfigured = names.contains { settings.isTopic(topic, of: $0) }
            if isConfigured, let migration = settings.migration(of: topic) {
                retained.put(.message(migration))
                state.withLock { _ = $0.migrated.insert(topic) }
                migrates = true
            } else {
                retained.put(.stale(topic: topic))
            }
        }
        return migrates
    }

    /// Clears the old topics of released entities. Once the entities are announced in the new way, Home Assistant takes
    /// any message on the old topic, even an empty one, for a second announcement, and complains.
    func emptyMigrated() {
        let topics = state.withLock { state -> Set<String> in
            defer { state.migrated = [] }
            return state.migrated
        }
        for topic in topics.sorted() { retained.put(.stale(topic: topic)) }
    }

    /// Announces everything if that is due.
    func announceDue() {
        let isDue = state.withLock { state in
            guard state.wasConnected else { return false }
            defer { (state.isOpen, state.isDue) = (true, false) }
            return state.isDue
        }
        if isDue { publishAll() }
    }

    /// Clears the topics that Home Assistant no longer reads.
    func emptyOutdated() {
        let topics = state.withLock { state -> Set<String> in
            guard state.wasConnected else { return [] }
            defer { state.outdated = [] }
            return state.outdated
        }
        for topic in topics.sorted() { retained.put(.message(.removal(of: topic))) }
    }

    private var known: [DiscoveredDevice] {
        state.withLock { $0.devices.values.sorted { $0.info.id < $1.info.id } }
    }

    private func announce(_ device: DiscoveredDevice, replacing old: DiscoveredDevice? = nil) {
        guard device.isAnnounced else { return }
        announce(settings.messages(for: device, replacing: old), of: device.info.id)
    }

    private func announce(_ messages: [OutgoingMessage], of device: DeviceID?) {
        let topics = Set(messages.filter { !$0.payload.isEmpty }.map(\.topic))
        let gone = state.withLock { state -> Set<String>? in
            guard state.has(device) else { return nil }
            let before = state.topics.updateValue(topics, forKey: device) ?? []
            return before.subtracting(topics)
        }
        guard let gone else { return }
        for topic in gone.sorted() { retained.put(.message(.removal(of: topic))) }
        for message in messages { retained.put(.message(message)) }
        // If the device was removed meanwhile, its topics may have been cleared before these messages.
        guard !state.withLock({ $0.has(device) }) else { return }
        for topic in topics.sorted() { retained.put(.message(.removal(of: topic))) }
    }
}

extension DeviceState {
    /// Whether entities depend on the state. Values, which come with every sample, do not change them.
    fileprivate var determinesEntities: Bool {
        switch self {
        case .info, .config: true
        default: false
        }
    }
}

extension DiscoveredDevice? {
    /// The device after this state; `nil` until its `info` is known. States from before that are repeated later.
    fileprivate func applying(_ change: DeviceState) -> DiscoveredDevice? {
        if case .info(let info) = change {
            guard var device = self else { return DiscoveredDevice(info) }
            device.info = info
            return device
        }
        guard var device = self else { return nil }
        if case .config(let twin) = change, let settings = twin.desired { device.watch(settings) }
        return device
    }
}
