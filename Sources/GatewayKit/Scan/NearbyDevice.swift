public import Vitals

/// A device that a scan has found: what it advertises, and how the configuration names it.
public struct NearbyDevice: Sendable, Hashable {
    /// A key of `transport:` in the configuration.
    public struct Option: Sendable, Hashable {
        /// The key.
        public var key: String
        /// Its value.
        public var value: String

        /// A key with its value.
        public init(_ key: String, _ value: String) { (self.key, self.value) = (key, value) }
    }

    /// Its address, which no other device of the scan has.
    public var address: String
    /// The name that it advertises; `nil` if it advertises none.
    public var name: String?
    /// The Bluetooth services that it advertises. A device may have others.
    public var services: [BluetoothUUID]
    /// How strong its signal was when it was last heard, in dBm: about -30 next to the antenna, about -90 at the limit. `nil` if that
    /// is not known.
    public var signalStrength: Int?
    /// Whether it is connected with this machine. Such a device is found although it may not advertise.
    public var isConnected: Bool
    /// The device of the configuration that it is, as far as the gateway knows.
    public var device: DeviceID?
    /// What recognises it under `transport:`, beside `type`.
    public var options: [Option]
    /// A sentence for the person who configures it; `nil` if there is nothing to say.
    public var note: String?

    /// A device that a scan has found.
    public init(
        address: String, name: String? = nil, services: [BluetoothUUID] = [], signalStrength: Int? = nil,
        isConnected: Bool = false, device: DeviceID? = nil, options: [Option], note: String? = nil
    ) {
        self.address = address
        self.name = name
        self.services = services
        self.signalStrength = signalStrength
        self.isConnected = isConnected
        self.device = device
        self.options = options
        self.note = note
    }
}
