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
        return NearbyDevice(
            bluetooth: address.uppercased(), isRandom: properties["AddressType"]?.text == "random",
            isPaired: properties["Paired"]?.flag ?? false, name: name, services: services,
            signalStrength: properties["RSSI"]?.number, isConnected: properties["Connected"]?.flag ?? false,
            further: adapter.map { [NearbyDevice.Option("adapter", $0)] } ?? [])
    }
}
