import Contract
import Engines
import GatewayKit
import HomeAssistant
import Synchronization
import Vitals

/// Keeps Home Assistant's discovery in step with the devices.
final class DiscoveryBoard: Sendable {
    private struct State {
        /// The topics under which each device is announced; `nil` is the gateway itself.
        var topics: [DeviceID?: Set<String>] = [:]
        var infos: [DeviceID: DeviceInfo] = [:]
        var generator = SplitMix64(seed: 0x5EED)
    }
    private let state = Mutex(State())
    private let board: StateBoard
    private let settings: DiscoverySettings

    init(board: StateBoard, settings: DiscoverySettings) {
        self.board = board
        self.settings = settings
    }

    /// Every topic that something is announced under now.
    var topics: Set<String> { state.withLock { $0.topics.values.reduce(into: []) { $0.formUnion($1) } } }

    /// A device's description may have changed. One that never connected is not announced: nobody knows what it can do.
    func changed(_ info: DeviceInfo) {
        let (isNew, old) = state.withLock { state in
            let old = state.infos.updateValue(info, forKey: info.id)
            return (old != info, old)
        }
        if isNew { announce(info, replacing: old) }
    }

    /// Announces the gateway and every device.
    func publishAll() {
        announce(settings.gatewayMessages, of: nil)
        for info in state.withLock({ $0.infos.values.sorted { $0.id < $1.id } }) { announce(info) }
    }

    /// Home Assistant was started: everything is announced again, not quite at once, since others do the same.
    func publishAgain(_ clock: GatewayClock) async {
        let wait = state.withLock { Double.random(in: 1...5, using: &$0.generator) }
        do { try await clock.sleep(for: .milliseconds(Int(wait * 1000))) } catch { return }
        publishAll()
        board.repeatAll()
    }

    /// A device was removed: what announced it is emptied.
    func removed(_ device: DeviceID) {
        let topics = state.withLock { state in
            state.infos[device] = nil
            return state.topics.removeValue(forKey: device) ?? []
        }
        for topic in topics.sorted() { board.put(.message(.removal(of: topic))) }
    }

    /// Whether a device that is configured was not announced yet: what stands about it may still be true.
    func isUnknown(_ topic: String, among devices: [DeviceID]) -> Bool {
        state.withLock { state in
            devices.contains { state.topics[$0] == nil && topic.contains("_\($0.text)/") }
        }
    }

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
