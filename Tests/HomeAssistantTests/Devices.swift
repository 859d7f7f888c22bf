import Contract
import HomeAssistant
import Vitals

/// Devices for discovery messages.
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

    /// A band with every ability that has reported everything. It watches the resting heart rate and stress, and has
    /// limits of blood oxygen and stress that no value can pass.
    static let band: DiscoveredDevice = {
        var settings = MonitorSettings.defaults(for: Capabilities([.heartRate: .monitor, .stress: .monitor]))
        settings[.heartRate, .enabled(.resting)] = .toggle(true)
        settings[.stress, .enabled(.alert)] = .toggle(true)
        settings.merge(MonitorSettings.defaults(for: Capabilities([.bloodOxygen: .monitor])).values)
        return DiscoveredDevice(bandInfo, settings: settings)
    }()

    private static let bandInfo = DeviceInfo(
        id: id("band-1"), name: "Anna's band", person: "anna", driver: "simulator",
        identity: DeviceIdentity(
            manufacturer: "Acme", model: "Band", serial: "B-1", firmware: "1.2.3", hardware: "C"),
        capabilities: Capabilities(
            Dictionary(
                uniqueKeysWithValues: Metric.allCases.filter { $0 != .battery }.map {
                    ($0, Abilities(rawValue: .max))
                })),
        features: .all, freshness: [.heartRate: .minutes(30), .temperature: .milliseconds(1500)])

    /// A cuff: blood pressure on demand, with a history.
    static let cuff = DiscoveredDevice(
        DeviceInfo(
            id: id("cuff"), name: "Cuff", driver: "gatt-health", identity: DeviceIdentity(model: "BP 7"),
            capabilities: Capabilities([.bloodPressure: [.measure, .history]])), settings: MonitorSettings())

    /// A scale for several persons, who are asked whose a weight is.
    static let scale: DiscoveredDevice = {
        var info = DeviceInfo(
            id: id("scale"), name: "Scale", people: [1: "Änne \"A\"", 2: "ben"], driver: "gatt-health",
            capabilities: Capabilities([.weight: [.history]]))
        info.asksWhose = true
        return DiscoveredDevice(info, settings: MonitorSettings())
    }()

    /// A device that has never connected.
    static let unknown = DiscoveredDevice(DeviceInfo(id: id("new"), name: "New", driver: "link"))

    /// A device that has never connected, since a person has to pair it first.
    static let unpaired: DiscoveredDevice = {
        var info = DeviceInfo(id: id("cuff-2"), name: "New cuff", driver: "gatt-health")
        info.asksForPasskey = true
        return DiscoveredDevice(info)
    }()

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
