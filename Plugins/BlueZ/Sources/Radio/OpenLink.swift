import Concurrency
import GatewayKit

/// A connection to a device, from the attempt to its end.
final class OpenLink: Sendable {
    /// The identifier of the device that has the link.
    let holder: LinkTurns.Holder
    /// The object of the device.
    let path: String
    let device: DeviceTarget
    /// The values that the device sent.
    let values = GATTValueQueue()
    /// Why the link is over.
    let ended = Promise<LinkError>()
    /// The services are known, or the device has gone before.
    let resolved = Promise<Void>()

    init(holder: LinkTurns.Holder, path: String, device: DeviceTarget) {
        (self.holder, self.path, self.device) = (holder, path, device)
    }

    /// Ends the link. Values that arrived still come.
    func end(_ error: LinkError) {
        guard ended.fulfil(error) else { return }
        values.finish(error)
        resolved.fulfil(())
    }

    /// Whether the gateway ends the link on purpose, and comes back.
    var isLeft: Bool { ended.value?.code == .ended }
}

/// The requests and subscriptions of a link. It belongs to the radio.
final class LinkTraffic {
    let link: OpenLink
    /// The objects of the characteristics, by handle.
    var objects: [UInt16: String] = [:]
    /// The subscriptions, by object.
    var subscriptions: [String: GATTCharacteristic] = [:]
    /// When something was last asked, answered or received.
    var lastActivity: Duration
    /// Whether BlueZ has said that the device is connected.
    var wasConnected = false
    /// The characteristic that is being read: its own value arrives as if the device had sent it.
    private var reading: String?
    /// What was indicated before its subscription, by object. When a paired device comes back, BlueZ renews its subscriptions by
    /// itself and confirms what the device sends, which then deletes it.
    private var early: [String: [[UInt8]]] = [:]
    /// The most values of a characteristic that wait for its subscription: a cuff stores some hundred records.
    static let mostEarlyValues = 256
    /// The objects of which more came.
    private var overflowed: Set<String> = []
    private var held: [(path: String, bytes: [UInt8])] = []
    private var requests: [() -> Void] = []
    private var isBusy = false

    init(_ link: OpenLink, at now: Duration) {
        self.link = link
        lastActivity = now
    }

    /// Sends one request after the other: `start` sends one, and its answer calls `finished`.
    func enqueue(_ start: @escaping () -> Void) {
        requests.append(start)
        if !isBusy { startNext() }
    }

    /// A request was answered.
    func finished() { startNext() }

    private func startNext() {
        isBusy = !requests.isEmpty
        if isBusy { requests.removeFirst()() }
    }

    /// Forgets the requests that were not sent.
    func abandon() { requests = [] }

    /// A value of a characteristic was told. One that is indicated waits for its subscription.
    func received(_ bytes: [UInt8], from path: String, isIndicated: Bool) {
        guard isIndicated || subscriptions[path] != nil else { return }
        if reading != nil { held.append((path, bytes)) } else { deliver(bytes, from: path) }
    }

    /// A characteristic is about to be read.
    func beginReading(_ path: String) { reading = path }

    /// A characteristic is about to be subscribed to. Records that arrived before come now. Returns whether some are lost, since there
    /// were too many.
    func beginSubscription(to characteristic: GATTCharacteristic, _ path: String) -> Bool {
        subscriptions[path] = characteristic
        for bytes in early.removeValue(forKey: path) ?? [] { deliver(bytes, from: path) }
        return overflowed.remove(path) != nil
    }

    /// A characteristic was read, if it could be: BlueZ told its value before it answered, last of all values that are the same.
    func endReading(_ bytes: [UInt8]?) {
        guard let path = reading else { return }
        reading = nil
        if let bytes, let echo = held.lastIndex(where: { $0 == (path, bytes) }) { held.remove(at: echo) }
        let values = held
        held = []
        for value in values { deliver(value.bytes, from: value.path) }
    }

    private func hold(_ bytes: [UInt8], from path: String) {
        guard early[path, default: []].count < Self.mostEarlyValues else {
            overflowed.insert(path)
            return
        }
        early[path, default: []].append(bytes)
    }

    private func deliver(_ bytes: [UInt8], from path: String) {
        guard let characteristic = subscriptions[path] else {
            hold(bytes, from: path)
            return
        }
        if !link.values.add(GATTValue(characteristic: characteristic, bytes: bytes)) {
            link.end(LinkError(.broken, "More values of the device waited than the gateway keeps."))
        }
    }
}
