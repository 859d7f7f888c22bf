import Contract
package import Vitals

/// Detects devices whose entities would share a `unique_id`. It consists of the device's identifier and the entity's
/// key, so `band` with `resting_heart_rate` and `band_resting` with `heart_rate` would collide.
package struct UniqueIDs: Sendable {
    private let keys: [String]
    /// The devices added so far.
    private var devices: Set<String> = []
    /// The same devices, by each part of their identifiers that precedes a `_`.
    private var longer: [String: [DeviceID]] = [:]

    /// Creates an empty collection.
    package init() { keys = Discovery.everyKey }

    /// Adds a device. Returns an earlier device that would share a `unique_id` with it, if both had every possible
    /// entity.
    package mutating func add(_ device: DeviceID) -> DeviceID? {
        let beginnings = device.beginnings
        let shorter = beginnings.filter { devices.contains($0) }.compactMap { DeviceID($0) }
        let found =
            shorter.first { areShared(by: device, $0) }
            ?? longer[device.text]?.first { areShared(by: $0, device) }
        devices.insert(device.text)
        for beginning in beginnings { longer[beginning, default: []].append(device) }
        return found
    }

    private func areShared(by longer: DeviceID, _ shorter: DeviceID) -> Bool {
        let more = longer.text.dropFirst(shorter.text.count + 1)
        return keys.contains { keys.contains("\(more)_\($0)") }
    }
}

extension DeviceID {
    /// The parts that precede each `_`.
    fileprivate var beginnings: [String] {
        text.indices.filter { text[$0] == "_" }.map { String(text[..<$0]) }
    }
}

extension Discovery {
    /// The keys of all entities that a wearable can have.
    package static var everyKey: [String] {
        guard let id = DeviceID("any") else { return [] }
        let discovery = Discovery(
            options: DiscoveryOptions(), topics: ContractTopics(gateway: id),
            origin: DiscoveryOrigin(version: "", supportURL: ""))
        let all = Capabilities(
            Dictionary(uniqueKeysWithValues: Metric.allCases.map { ($0, Abilities(rawValue: .max)) }))
        var device = DeviceInfo(id: id, name: "", driver: "", capabilities: all, features: .all)
        device.asksForPasskey = true
        // With empty settings no rule has a known limit, so none is skipped.
        return discovery.components(of: DiscoveredDevice(device, settings: MonitorSettings())).map(\.key)
    }
}
