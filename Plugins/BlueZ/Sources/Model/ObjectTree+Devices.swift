import GatewayKit

extension ObjectTree {
    /// The adapter of a name such as `hci0`, or with an address; the first one if there is no name. `nil` if there is none.
    func adapter(_ name: String?) -> String? {
        let adapters = paths(with: BlueZ.adapter)
        guard let name else { return adapters.first }
        return adapters.first { path in
            path.hasSuffix("/\(name)") || self[path, BlueZ.adapter]?["Address"]?.text == name.uppercased()
        }
    }

    /// The adapter of a device.
    func adapter(of device: String) -> String? { self[device, BlueZ.device]?["Adapter"]?.text }

    /// Whether the object is the device that is wanted.
    func isDevice(_ path: String, _ target: DeviceTarget) -> Bool {
        guard let properties = self[path, BlueZ.device] else { return false }
        switch target.selector {
        case .address(let address): return properties["Address"]?.text?.uppercased() == address
        case .name(let name): return properties["Name"]?.text == name
        }
    }

    /// The services of a device that is connected, in the order of their handles, with the object of each characteristic.
    func services(of device: String) -> [(GATTCharacteristic?, service: BluetoothUUID, path: String)] {
        var found: [(GATTCharacteristic?, service: BluetoothUUID, path: String)] = []
        if self[device, BlueZ.battery]?["Percentage"] != nil { found.append((.battery, .batteryService, device)) }
        for service in paths(with: BlueZ.gattService, below: device) {
            guard let uuid = self[service, BlueZ.gattService]?["UUID"]?.text.flatMap({ BluetoothUUID($0) }) else {
                continue
            }
            found.append((nil, uuid, service))
            for path in paths(with: BlueZ.characteristic, below: service) {
                guard let characteristic = characteristic(path, in: uuid) else { continue }
                found.append((characteristic, uuid, path))
            }
        }
        return found
    }

    private func characteristic(_ path: String, in service: BluetoothUUID) -> GATTCharacteristic? {
        guard let properties = self[path, BlueZ.characteristic],
            let uuid = properties["UUID"]?.text.flatMap({ BluetoothUUID($0) })
        else { return nil }
        // Newer versions report the handle of the value. The path has the one of the declaration, which the value follows
        // (Bluetooth Core Specification, Vol 3, Part G, 3.3.2).
        let declared = UInt16(path.suffix(4), radix: 16).map { $0 &+ 1 }
        let reported = properties["Handle"]?.number.flatMap { UInt16(exactly: $0) }.flatMap { $0 == 0 ? nil : $0 }
        var flags = GATTProperties()
        for flag in properties["Flags"]?.elements.compactMap(\.text) ?? [] {
            flags.formUnion(GATTProperties.flags[flag] ?? [])
        }
        return GATTCharacteristic(service: service, uuid: uuid, handle: reported ?? declared ?? 0, properties: flags)
    }
}

extension GATTProperties {
    /// The flags of a characteristic as BlueZ names them. Those with security are what they are once the device is paired.
    fileprivate static let flags: [String: GATTProperties] = [
        "read": .read, "encrypt-read": .read, "encrypt-authenticated-read": .read, "secure-read": .read,
        "write": .write, "encrypt-write": .write, "encrypt-authenticated-write": .write, "secure-write": .write,
        "write-without-response": .writeWithoutResponse, "notify": .notify, "encrypt-notify": .notify,
        "indicate": .indicate, "encrypt-indicate": .indicate,
    ]
}

extension BluetoothUUID {
    /// The Battery Service.
    static let batteryService = BluetoothUUID(0x180f)
}

extension GATTCharacteristic {
    /// The battery level, which BlueZ keeps for itself and reports as a property of the device. No attribute has the handle 0.
    static let battery = GATTCharacteristic(
        service: .batteryService, uuid: BluetoothUUID(0x2a19), handle: 0, properties: [.read, .notify])
}
