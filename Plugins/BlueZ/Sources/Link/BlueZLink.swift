import GatewayKit

/// A connection to a device through BlueZ.
struct BlueZLink: GATTLink {
    /// The payload of an ATT MTU of 23, for a BlueZ that does not report the negotiated one (before 5.62).
    static let minimumPayload = 20
    /// The longest value (Bluetooth Core Specification, Vol 3, Part F, 3.2.9).
    static let longestValue = 512

    let radio: Radio
    let link: OpenLink
    let services: [GATTService]
    let maximumPayload: Int

    func read(_ characteristic: GATTCharacteristic) async throws(GATTError) -> [UInt8] {
        try await radio.read(characteristic, of: link)
    }

    func write(
        _ bytes: [UInt8], to characteristic: GATTCharacteristic, _ kind: GATTWrite
    ) async throws(GATTError) {
        let limit = kind == .withResponse ? Self.longestValue : maximumPayload
        try await radio.write(bytes, to: characteristic, kind, of: link, limit: limit)
    }

    func subscribe(to characteristic: GATTCharacteristic) async throws(GATTError) {
        try await radio.subscribe(to: characteristic, of: link)
    }

    func unsubscribe(from characteristic: GATTCharacteristic) async throws(GATTError) {
        try await radio.unsubscribe(from: characteristic, of: link)
    }

    func nextValue() async throws(LinkError) -> GATTValue? { try await link.values.next() }

    func serve(_ services: [GATTLocalService]) async throws(GATTError) { try await radio.serve(services, to: link) }

    func signalStrength() async -> Int? { await radio.signalStrength(of: link) }
}
