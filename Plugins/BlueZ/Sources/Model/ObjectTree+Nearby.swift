import GatewayKit

extension ObjectTree {
    /// What a device advertises; `nil` for an object that is no device.
    /// - Parameter adapter: the name of its adapter, unless that is the plugin's.
    func nearby(_ path: String, adapter: String? = nil) -> NearbyDevice? {
        guard let properties = self[path, BlueZ.device], let address = properties["Address"]?.text else { return nil }
        let name = properties["Name"]?.text.flatMap { $0.isEmpty ? nil : $0 }
        let reported = properties["UUIDs"]?.elements.compactMap(\.text) ?? []
        let withData = properties["ServiceData"]?.members.keys.sorted() ?? []
        var services: [BluetoothUUID] = []
        for text in reported + withData {
            if let uuid = BluetoothUUID(text), !services.contains(uuid) { services.append(uuid) }
        }
        let isPassing = properties["AddressType"]?.text == "random" && Self.changes(address)
        // BlueZ knows the address that stays only of a paired device.
        let isNamed = isPassing && properties["Paired"]?.flag != true && name != nil
        var options = [
            isNamed ? NearbyDevice.Option("name", name ?? "") : NearbyDevice.Option("address", address.uppercased())
        ]
        if let adapter { options.append(NearbyDevice.Option("adapter", adapter)) }
        let note: String? =
            switch (isPassing && properties["Paired"]?.flag != true, name) {
            case (false, _): nil
            case (true, nil):
                "Its address changes, and it advertises no name: it can be configured only when it is paired."
            case (true, .some): "Its address changes; it is recognised by its name, which no other device may have."
            }
        return NearbyDevice(
            address: address.uppercased(), name: name, services: services,
            signalStrength: properties["RSSI"]?.number, isConnected: properties["Connected"]?.flag ?? false,
            options: options, note: note)
    }

    /// Whether a random address changes now and then: its two highest bits are not both set (Bluetooth Core Specification, Vol 6,
    /// Part B, 1.3.2).
    private static func changes(_ address: String) -> Bool {
        guard let first = UInt8(address.prefix(2), radix: 16) else { return false }
        return first & 0xc0 != 0xc0
    }
}
