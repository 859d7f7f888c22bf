/// The options for announcing devices to Home Assistant.
package struct DiscoveryOptions: Sendable, Hashable {
    /// The modes of discovery. The raw value is the name in the configuration.
    package enum Mode: String, CaseIterable, Sendable, Hashable {
        /// One message per device: Home Assistant from 2024.12.
        case device
        /// One message per entity: older Home Assistant, and openHAB.
        case component
        /// No discovery.
        case off
    }

    /// The mode.
    package var mode: Mode
    /// The prefix of discovery topics, as configured in Home Assistant.
    package var prefix: String
    /// The oldest Home Assistant release that must understand the messages.
    package var compatibility: HomeAssistantVersion

    /// Home Assistant's default prefix.
    package static let defaultPrefix = "homeassistant"

    /// Creates options; the defaults are those of Home Assistant.
    package init(
        mode: Mode = .device, prefix: String = defaultPrefix,
        compatibility: HomeAssistantVersion = .deviceDiscovery
    ) {
        self.mode = mode
        self.prefix = prefix
        self.compatibility = compatibility
    }
}

/// The origin of discovery messages, which Home Assistant shows in its log and with the devices.
package struct DiscoveryOrigin: Sendable, Hashable {
    /// The program's version.
    package var version: String
    /// The URL of its documentation.
    package var supportURL: String

    /// The program's name.
    package static let name = "vitals2mqtt"

    /// An origin.
    package init(version: String, supportURL: String) {
        self.version = version
        self.supportURL = supportURL
    }
}
