/// How the gateway's devices are announced to Home Assistant.
package struct DiscoveryOptions: Sendable, Hashable {
    /// The ways of discovery. The raw value is the name in the configuration.
    package enum Mode: String, CaseIterable, Sendable, Hashable {
        /// One message per device: Home Assistant from 2024.12.
        case device
        /// One message per entity: older Home Assistant, and openHAB.
        case component
        /// None.
        case off
    }

    /// The way.
    package var mode: Mode
    /// The prefix of discovery topics, as it is set in Home Assistant.
    package var prefix: String
    /// The oldest release that has to understand what is announced.
    package var compatibility: HomeAssistantVersion

    /// The prefix that Home Assistant has unless told otherwise.
    package static let defaultPrefix = "homeassistant"

    /// Options; Home Assistant's own defaults unless told otherwise.
    package init(
        mode: Mode = .device, prefix: String = defaultPrefix,
        compatibility: HomeAssistantVersion = .deviceDiscovery
    ) {
        self.mode = mode
        self.prefix = prefix
        self.compatibility = compatibility
    }
}

/// Who announces: Home Assistant shows it in its log and with the devices.
package struct DiscoveryOrigin: Sendable, Hashable {
    /// The program's version.
    package var version: String
    /// Where its documentation is.
    package var supportURL: String

    /// The program's name.
    package static let name = "vitals2mqtt"

    /// An origin.
    package init(version: String, supportURL: String) {
        self.version = version
        self.supportURL = supportURL
    }
}
