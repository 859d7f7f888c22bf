/// The states that a device may report beside samples. Home Assistant gets an entity for each that a device has reported once.
/// The store keeps them: otherwise these entities would vanish with each restart of the gateway until the device reports again.
package struct DeviceFeatures: OptionSet, Sendable, Hashable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The charge of its battery.
    package static let battery = DeviceFeatures(rawValue: 1 << 0)
    /// Whether it is worn.
    package static let worn = DeviceFeatures(rawValue: 1 << 1)
    /// Whether it is being charged.
    package static let charging = DeviceFeatures(rawValue: 1 << 2)
    /// The strength of its radio signal.
    package static let signal = DeviceFeatures(rawValue: 1 << 3)

    package static let all: DeviceFeatures = [.battery, .worn, .charging, .signal]
}
