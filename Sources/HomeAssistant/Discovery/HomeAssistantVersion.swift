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
