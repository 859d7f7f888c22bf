import Contract
package import Vitals

/// Keeps the entities of a gateway's devices apart: a `unique_id` is made of the device's identifier and the entity's key, so
/// `band` with `resting_heart_rate` and `band_resting` with `heart_rate` would have the same.
package struct UniqueIDs: Sendable {
    private let keys: [String]
    /// The devices so far.
    private var devices: Set<String> = []
    /// The same by what stands before each `_` of their identifiers.
    private var longer: [String: [DeviceID]] = [:]

    /// No device yet.
    package init() { keys = Discovery.everyKey }

    /// Adds a device. Returns one of before that would share a `unique_id` with it, if each had all that a device can have.
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
    /// What stands before each `_`.
    fileprivate var beginnings: [String] {
        text.indices.filter { text[$0] == "_" }.map { String(text[..<$0]) }
    }
}

extension Discovery {
    /// The key of every entity that a wearable can have.
    fileprivate static var everyKey: [String] {
        guard let id = DeviceID("any") else { return [] }
        let discovery = Discovery(
            options: DiscoveryOptions(), topics: ContractTopics(gateway: id),
            origin: DiscoveryOrigin(version: "", supportURL: ""))
        let all = Capabilities(
            Dictionary(uniqueKeysWithValues: Metric.allCases.map { ($0, Abilities(rawValue: .max)) }))
        let device = DeviceInfo(id: id, name: "", driver: "", capabilities: all, hasBattery: true)
        return discovery.components(of: device).map(\.key)
    }
}
