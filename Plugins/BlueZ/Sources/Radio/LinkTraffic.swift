import Concurrency
import GatewayKit

/// The requests, subscriptions and values of a link. It belongs to the radio.
final class LinkTraffic {
    /// The most values of a characteristic that wait for its subscription: a cuff stores some hundred records.
    static let mostEarlyValues = 256

    let link: OpenLink
    /// The services of the device, once they are known.
    private(set) var services: [GATTService] = []
    /// The objects of the characteristics, by handle.
    private(set) var objects: [UInt16: String] = [:]
    /// The characteristics, by object.
    private var characteristics: [String: GATTCharacteristic] = [:]
    /// The subscriptions, by object.
    var subscriptions: [String: GATTCharacteristic] = [:]
    /// When something was last asked, answered or received.
    var lastActivity: Duration
    /// Whether BlueZ has said that the device is connected.
    var wasConnected = false
    /// Whether a record has arrived. BlueZ has confirmed it, so the device has deleted it, and this is the only copy.
    private(set) var hasReportedRecords = false
    /// The characteristic that is being read: its own value arrives as if the device had sent it.
    private var reading: String?
    /// What was indicated before its subscription. When a paired device comes back, BlueZ renews its subscriptions by itself and
    /// confirms what the device sends, which then deletes it.
    private var early: [(path: String, bytes: [UInt8])] = []
    /// The objects of which more came.
    private var overflowed: Set<String> = []
    private var held: [(path: String, bytes: [UInt8])] = []
    private var requests: [() -> Void] = []
    private var isBusy = false

    init(_ link: OpenLink, at now: Duration) {
        self.link = link
        lastActivity = now
    }

    /// The services of the device are known.
    func found(_ found: [(GATTCharacteristic?, service: BluetoothUUID, path: String)]) {
        for (characteristic, service, object) in found {
            guard let characteristic else {
                services.append(GATTService(uuid: service, characteristics: []))
                continue
            }
            if characteristic == .battery { services.append(GATTService(uuid: service, characteristics: [])) }
            services[services.count - 1].characteristics.append(characteristic)
            objects[characteristic.handle] = object
            characteristics[object] = characteristic
        }
    }

    // MARK: - Requests

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

    // MARK: - Values

    /// A value of a characteristic has arrived. One that is indicated waits for its subscription.
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
        let records = early.filter { $0.path == path }
        early.removeAll { $0.path == path }
        for record in records { emit(record.bytes, of: characteristic) }
        return overflowed.remove(path) != nil
    }

    /// A characteristic was read, if it could be: BlueZ reported its value before it answered, last of all values that are the same.
    func endReading(_ bytes: [UInt8]?) {
        guard let path = reading else { return }
        if let bytes, let echo = held.lastIndex(where: { $0 == (path, bytes) }) { held.remove(at: echo) }
        deliverHeld()
    }

    private func deliverHeld() {
        reading = nil
        let values = held
        held = []
        for value in values { deliver(value.bytes, from: value.path) }
    }

    /// Ends the link, after it has delivered what the device sent, also without a subscription: the device does not send it again.
    func end(_ error: LinkError) {
        guard link.ended.value == nil else { return }
        deliverHeld()
        let records = early
        early = []
        for record in records {
            if let characteristic = characteristics[record.path] {
                emit(record.bytes, of: characteristic)
            } else {
                early.append(record)
            }
        }
        link.end(error)
    }

    /// Ends the link for good. Returns how many records were not read.
    func close(_ error: LinkError) async -> Int {
        link.end(error)
        abandon()
        var lost = early.count + held.count { characteristics[$0.path]?.properties.contains(.indicate) ?? false }
        while let value = try? await link.values.next() {
            if value.characteristic.properties.contains(.indicate) { lost += 1 }
        }
        return lost
    }

    private func deliver(_ bytes: [UInt8], from path: String) {
        if let characteristic = subscriptions[path] {
            emit(bytes, of: characteristic)
        } else if early.count(where: { $0.path == path }) < Self.mostEarlyValues {
            early.append((path, bytes))
        } else {
            overflowed.insert(path)
        }
    }

    private func emit(_ bytes: [UInt8], of characteristic: GATTCharacteristic) {
        if link.values.add(GATTValue(characteristic: characteristic, bytes: bytes)) {
            if characteristic.properties.contains(.indicate) { hasReportedRecords = true }
        } else {
            link.end(LinkError(.broken, "More values of the device waited than the gateway keeps."))
        }
    }
}
