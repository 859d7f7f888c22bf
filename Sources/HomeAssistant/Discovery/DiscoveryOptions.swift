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

/// A release of Home Assistant, such as `2024.12`.
package struct HomeAssistantVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The year.
    package var year: Int
    /// The month of that year, 1–12.
    package var month: Int

    /// The first release with device-based discovery: the oldest for the mode `device`, and the default.
    package static let deviceDiscovery = HomeAssistantVersion(year: 2024, month: 12)
    /// The first release with the MQTT platform `time`.
    package static let timePlatform = HomeAssistantVersion(year: 2026, month: 5)

    /// A release.
    package init(year: Int, month: Int) {
        self.year = year
        self.month = month
    }

    /// Parses `2024.12` or `2024.12.3`, whose patch number is ignored; `nil` for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), parts.allSatisfy({ $0.utf8.allSatisfy(Self.isDigit) }),
            let year = Int(parts[0]), (2000...9999).contains(year), let month = Int(parts[1]),
            (1...12).contains(month), parts.last?.isEmpty == false
        else { return nil }
        self.init(year: year, month: month)
    }

    /// The text for a person.
    package var description: String { "\(year).\(month)" }

    /// Orders by time, ascending.
    package static func < (a: HomeAssistantVersion, b: HomeAssistantVersion) -> Bool {
        (a.year, a.month) < (b.year, b.month)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
