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
