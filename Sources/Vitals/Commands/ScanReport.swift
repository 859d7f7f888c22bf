/// The devices that a scan has found in reach.
package struct ScanReport: Sendable, Hashable {
    /// A device in reach.
    package struct Device: Sendable, Hashable {
        package var address: String
        package var name: String?
        /// The services that it advertises, each of four digits of the Bluetooth SIG or of 32.
        package var services: [String]
        /// In dBm; `nil` if it is not known.
        package var signalStrength: Int?
        package var isConnected: Bool
        /// The device of the configuration that it is.
        package var device: DeviceID?
        /// The drivers that recognise it, the surest first.
        package var claims: [Claim]
        /// The keys of `transport:` that recognise it, with `type` first.
        package var transport: [Option]
        /// What a person should know, a sentence.
        package var note: String?

        package init(
            address: String, name: String?, services: [String], signalStrength: Int?, isConnected: Bool,
            device: DeviceID?, claims: [Claim], transport: [Option], note: String?
        ) {
            self.address = address
            self.name = name
            self.services = services
            self.signalStrength = signalStrength
            self.isConnected = isConnected
            self.device = device
            self.claims = claims
            self.transport = transport
            self.note = note
        }
    }

    /// A driver that recognises a device.
    package struct Claim: Sendable, Hashable {
        /// The raw value is the name on the wire.
        package enum Mark: String, Sendable, Hashable { case services, name }
        package var driver: String
        package var mark: Mark

        package init(_ driver: String, by mark: Mark) { (self.driver, self.mark) = (driver, mark) }
    }

    /// A key of the configuration.
    package struct Option: Sendable, Hashable {
        package var key: String
        package var value: String

        package init(_ key: String, _ value: String) { (self.key, self.value) = (key, value) }
    }

    /// Why a plugin could not scan.
    package struct Problem: Sendable, Hashable {
        /// The plugin's name as in `plugins:`.
        package var plugin: String
        package var message: String

        package init(plugin: String, message: String) { (self.plugin, self.message) = (plugin, message) }
    }

    /// Those that a driver recognises first, and the strongest signal first.
    package var devices: [Device]
    /// How many more were found.
    package var skipped: Int
    /// The plugins that could not scan, while others could.
    package var problems: [Problem]

    package init(devices: [Device], skipped: Int = 0, problems: [Problem] = []) {
        self.devices = devices
        self.skipped = skipped
        self.problems = problems
    }
}
