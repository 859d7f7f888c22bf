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

extension NearbyDevice {
    /// A device that was heard by Bluetooth. One whose address changes is recognised by its name.
    /// - Parameters:
    ///   - isRandom: whether the address is a random one.
    ///   - isPaired: whether the radio is paired with it, and so knows the address that stays.
    ///   - further: options beside the address or the name.
    package init(
        bluetooth address: String, isRandom: Bool, isPaired: Bool = false, name: String?, services: [BluetoothUUID],
        signalStrength: Int?, isConnected: Bool = false, further: [Option] = []
    ) {
        let isPassing = isRandom && Self.changes(address) && !isPaired
        let note: String? =
            switch (isPassing, name) {
            case (false, _): nil
            case (true, nil):
                "Its address changes, and it advertises no name: it can be configured only when it is paired."
            case (true, .some): "Its address changes; it is recognised by its name, which no other device may have."
            }
        let selector = isPassing ? name.map { Option("name", $0) } : nil
        self.init(
            address: address, name: name, services: services, signalStrength: signalStrength,
            isConnected: isConnected, options: [selector ?? Option("address", address)] + further, note: note)
    }

    /// Whether a random address changes now and then: its two highest bits are not both set (Bluetooth Core Specification, Vol 6,
    /// Part B, 1.3.2).
    private static func changes(_ address: String) -> Bool {
        guard let first = UInt8(address.prefix(2), radix: 16) else { return false }
        return first & 0xc0 != 0xc0
    }
}

/// A service of a plugin that can look for devices in reach, for people who want to configure them.
///
/// The gateway asks an open one while it serves devices. For the command `scan`, and while no device uses the service, it opens one
/// for the time of the scan. Of the devices that are found it names the driver by each driver's `recognition`.
public protocol ScanningService: PluginService {
    /// The transport that connects what is found.
    static var transport: any Transport.Type { get }
    /// Looks for devices, and returns those that were heard within `duration`, in any order.
    ///
    /// Devices that it serves are not disturbed, and several scans may run at once. The scan ends early when its task is cancelled.
    /// `duration` begins when the device that listens does; the wait for that has a limit.
    /// - Throws: why it cannot scan, with the remedy: `unreachable` if there is nothing to listen with, `timeout` if it
    ///   does not begin.
    func scan(for duration: Duration) async throws(LinkError) -> [NearbyDevice]
}

/// How a driver recognises its devices among those that a scan has found.
public struct Recognition: Sendable, Hashable {
    /// What a driver recognises a device by, the surest first.
    public enum Mark: Int, Sendable, Hashable, Comparable, CaseIterable {
        /// A service of the device's maker: its 128 bits are unique.
        case ownService
        /// A service of the Bluetooth SIG, which devices of many makers have.
        case commonService
        /// The beginning of its name.
        case name

        /// Whether the first mark is surer.
        public static func < (first: Mark, second: Mark) -> Bool { first.rawValue < second.rawValue }
    }

    /// The services, each of which is enough.
    public var services: Set<BluetoothUUID>
    /// Beginnings of names, each of which is enough. Upper and lower case differ.
    public var namePrefixes: [String]

    /// A driver that recognises devices with one of these services, or with a name that begins so.
    public init(services: Set<BluetoothUUID> = [], namePrefixes: [String] = []) {
        self.services = services
        self.namePrefixes = namePrefixes
    }

    /// The surest mark by which the driver recognises a device; `nil` if there is none.
    public func mark(of device: NearbyDevice) -> Mark? {
        let known = device.services.filter(services.contains)
        if known.contains(where: { $0.short == nil }) { return .ownService }
        if !known.isEmpty { return .commonService }
        guard let name = device.name else { return nil }
        return namePrefixes.contains(where: name.hasPrefix) ? .name : nil
    }
}
