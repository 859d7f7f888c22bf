import Contract
import HomeAssistant
import Vitals

/// Devices to announce.
enum Devices {
    static func id(_ text: String) -> DeviceID {
        guard let id = DeviceID(text) else { preconditionFailure("\(text) is no identifier") }
        return id
    }

    static let topics = ContractTopics(gateway: id("home"))
    static let calendar: LocalCalendar = {
        guard let calendar = LocalCalendar(identifier: "Europe/Berlin") else { preconditionFailure("no time zones") }
        return calendar
    }()

    /// A band that can everything.
    static let band = DeviceInfo(
        id: id("band-1"), name: "Anna's band", person: "anna", driver: "simulator",
        identity: DeviceIdentity(
            manufacturer: "Acme", model: "Band", serial: "B-1", firmware: "1.2.3", hardware: "C"),
        capabilities: Capabilities(
            Dictionary(
                uniqueKeysWithValues: Metric.allCases.filter { $0 != .battery }.map {
                    ($0, Abilities(rawValue: .max))
                })),
        hasBattery: true, freshness: [.heartRate: .minutes(30), .temperature: .milliseconds(1500)])

    /// A cuff: blood pressure when asked to, and its history.
    static let cuff = DeviceInfo(
        id: id("cuff"), name: "Cuff", driver: "gatt-health", identity: DeviceIdentity(model: "BP 7"),
        capabilities: Capabilities([.bloodPressure: [.measure, .history]]))

    /// A device that was never connected.
    static let unknown = DeviceInfo(id: id("new"), name: "New", driver: "link")

    static func discovery(
        _ mode: DiscoveryOptions.Mode = .device, compatibility: HomeAssistantVersion = .deviceDiscovery,
        gateway: String = "home"
    ) -> Discovery {
        Discovery(
            options: DiscoveryOptions(mode: mode, compatibility: compatibility),
            topics: ContractTopics(gateway: id(gateway)),
            origin: DiscoveryOrigin(version: "0.1.0", supportURL: "https://example.org/vitals2mqtt"))
    }
}
