import Concurrency
import GatewayKit
import Vitals

/// A connection to a device through a proxy.
struct ProxyLink: GATTLink {
    /// The longest value (Bluetooth Core Specification, Vol 3, Part F, 3.2.9).
    static let longestValue = 512

    let radio: ProxyRadio
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

    /// A proxy offers no services of its clients.
    func serve(_ services: [GATTLocalService]) async throws(GATTError) { throw .refused(.requestNotSupported) }

    func signalStrength() async -> Int? { await radio.signalStrength(of: link) }
}

/// The services of a device, with what a link needs to use them again.
struct KnownServices: Sendable {
    /// The most characteristics of a device: a watch has a hundred.
    static let mostCharacteristics = 1_024
    /// The payload of the smallest ATT MTU, 23.
    static let smallestPayload = 20

    var services: [GATTService] = []
    /// The handle of the descriptor that switches a characteristic's values on, by the characteristic's handle.
    var switches: [UInt16: UInt16] = [:]
    var payload = smallestPayload

    /// Adds the services of a message. Returns whether they are possible.
    mutating func add(_ message: APIServices) -> Bool {
        for service in message.services {
            guard let uuid = BluetoothUUID(service.uuid, short: service.shortUuid) else { return false }
            var found = GATTService(uuid: uuid, characteristics: [])
            for row in service.characteristics {
                guard let own = BluetoothUUID(row.uuid, short: row.shortUuid), let handle = UInt16(exactly: row.handle)
                else { return false }
                found.characteristics.append(
                    GATTCharacteristic(
                        service: uuid, uuid: own, handle: handle,
                        properties: GATTProperties(rawValue: UInt8(truncatingIfNeeded: row.properties))))
                let descriptor = row.descriptors.first {
                    BluetoothUUID($0.uuid, short: $0.shortUuid) == BluetoothUUID(0x2902)
                }
                if let descriptor { switches[handle] = UInt16(exactly: descriptor.handle) }
            }
            services.append(found)
        }
        return services.count + services.reduce(0) { $0 + $1.characteristics.count } <= Self.mostCharacteristics
    }
}

extension BluetoothUUID {
    /// An identifier of a proxy: two halves, the high one first, or a short one; `nil` for none.
    fileprivate init?(_ halves: [UInt64], short: UInt32) {
        if halves.count == 2 {
            self.init(high: halves[0], low: halves[1])
        } else if let short = UInt16(exactly: short), short > 0 {
            self.init(short)
        } else {
            return nil
        }
    }
}

/// A connection to a device, from the attempt to its end. What changes belongs to the radio.
final class OpenLink: Sendable {
    let holder: LinkTurns.Holder
    let address: UInt64
    /// The proxy that serves it.
    let proxy: Int
    let target: ProxyTarget
    /// The values that the device sent.
    let values = GATTValueQueue()
    /// Why the link is over.
    let ended = Promise<LinkError>()
    /// The device is connected, with this MTU.
    let connected = Promise<Result<Int, LinkError>>()
    let paired = Promise<Result<Void, LinkError>>()
    let resolved = Promise<Result<KnownServices, LinkError>>()
    /// The proxy has no connection to the device any more.
    let left = Promise<Void>()

    init(holder: LinkTurns.Holder, place: ProxyRadio.Place, target: ProxyTarget) {
        (self.holder, self.target) = (holder, target)
        (address, proxy) = (place.address, place.proxy)
    }

    /// Ends the link. Values that arrived still come. Returns whether it was open.
    func end(_ error: LinkError) -> Bool {
        guard ended.fulfil(error) else { return false }
        values.finish(error)
        connected.fulfil(.failure(error))
        paired.fulfil(.failure(error))
        resolved.fulfil(.failure(error))
        return true
    }

    /// Whether the gateway ends the link on purpose, and comes back.
    var isLeft: Bool { ended.value?.code == .ended }
}
