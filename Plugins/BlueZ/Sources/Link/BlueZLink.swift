import Concurrency
import GatewayKit

/// A connection to a device through BlueZ.
struct BlueZLink: GATTLink {
    /// The payload of an ATT MTU of 23, for a BlueZ that does not report the negotiated one (before 5.62).
    static let minimumPayload = 20
    /// The longest value (Bluetooth Core Specification, Vol 3, Part F, 3.2.9).
    static let longestValue = 512

    let radio: Radio
    let link: OpenLink
    let name: String?
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

/// A connection to a device, from the attempt to its end.
final class OpenLink: Sendable {
    /// The identifier of the device that has the link.
    let holder: LinkTurns.Holder
    /// The object of the device.
    let path: String
    let device: DeviceTarget
    /// The values that the device sent.
    let values = GATTValueQueue()
    /// Why the link is over.
    let ended = Promise<LinkError>()
    /// The services are known, or the device has gone before.
    let resolved = Promise<Void>()

    init(holder: LinkTurns.Holder, path: String, device: DeviceTarget) {
        (self.holder, self.path, self.device) = (holder, path, device)
    }

    /// Ends the link. Values that arrived still come.
    func end(_ error: LinkError) {
        guard ended.fulfil(error) else { return }
        values.finish(error)
        resolved.fulfil(())
    }

    /// Whether the gateway ends the link on purpose, and comes back.
    var isLeft: Bool { ended.value?.code == .ended }
}
