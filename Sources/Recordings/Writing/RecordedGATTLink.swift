import GatewayKit

/// A Bluetooth link whose calls and values are recorded. The strength of the signal is not.
struct RecordedGATTLink: GATTLink {
    private let link: any GATTLink
    private let track: LinkTrack

    init(_ link: any GATTLink, _ track: LinkTrack) {
        self.link = link
        self.track = track
    }

    var name: String? { link.name }
    var services: [GATTService] { link.services }
    var maximumPayload: Int { link.maximumPayload }

    func read(_ characteristic: GATTCharacteristic) async throws(GATTError) -> [UInt8] {
        let number = track.call { _ in .read(characteristic.handle) }
        do {
            let bytes = try await link.read(characteristic)
            track.note { mask in
                .answer(number, .done(MaskedCharacteristics.masking(bytes, of: characteristic.uuid, by: mask)))
            }
            return bytes
        } catch {
            track.note { mask in .answer(number, .failed(mask.masking(error))) }
            throw error
        }
    }

    func write(
        _ bytes: [UInt8], to characteristic: GATTCharacteristic, _ kind: GATTWrite
    ) async throws(GATTError) {
        let number = track.call { mask in
            let masked = MaskedCharacteristics.masking(bytes, of: characteristic.uuid, by: mask)
            return .write(characteristic.handle, masked, kind)
        }
        try await recordOutcome(of: number) { () async throws(GATTError) in
            try await link.write(bytes, to: characteristic, kind)
        }
    }

    func subscribe(to characteristic: GATTCharacteristic) async throws(GATTError) {
        let number = track.call { _ in .subscribe(characteristic.handle) }
        try await recordOutcome(of: number) { () async throws(GATTError) in
            try await link.subscribe(to: characteristic)
        }
    }

    func unsubscribe(from characteristic: GATTCharacteristic) async throws(GATTError) {
        let number = track.call { _ in .unsubscribe(characteristic.handle) }
        try await recordOutcome(of: number) { () async throws(GATTError) in
            try await link.unsubscribe(from: characteristic)
        }
    }

    func serve(_ services: [GATTLocalService]) async throws(GATTError) {
        let number = track.call { _ in .serve(services.map(\.uuid)) }
        try await recordOutcome(of: number) { () async throws(GATTError) in try await link.serve(services) }
    }

    func nextValue() async throws(LinkError) -> GATTValue? {
        do {
            guard let value = try await link.nextValue() else {
                track.end(.byDevice)
                return nil
            }
            track.note { mask in
                let uuid = value.characteristic.uuid
                return .value(
                    value.characteristic.handle, MaskedCharacteristics.masking(value.bytes, of: uuid, by: mask))
            }
            return value
        } catch {
            if error.code != .cancelled { track.end(.broken(error)) }
            throw error
        }
    }

    func signalStrength() async -> Int? { await link.signalStrength() }

    /// Records how a call without a value ended.
    private func recordOutcome(of number: Int, _ call: () async throws(GATTError) -> Void) async throws(GATTError) {
        do { try await call() } catch {
            track.note { mask in .answer(number, .failed(mask.masking(error))) }
            throw error
        }
        track.note { _ in .answer(number, .done(RecordedBytes([]))) }
    }
}

/// Characteristics whose values identify a device, so that they are masked as a whole.
enum MaskedCharacteristics {
    /// Device Name (Bluetooth Core Specification, Vol 3, Part C, 12.1), System ID, which has the address, and Serial Number String
    /// (Bluetooth SIG, Device Information Service 1.1, 3.2 and 3.7).
    private static let identifying: Set<BluetoothUUID> = [
        BluetoothUUID(0x2a00), BluetoothUUID(0x2a23), BluetoothUUID(0x2a25),
    ]

    /// The value as recorded.
    static func masking(_ bytes: [UInt8], of characteristic: BluetoothUUID, by mask: Mask) -> RecordedBytes {
        guard identifying.contains(characteristic), !bytes.isEmpty else { return mask.masking(bytes) }
        return RecordedBytes([UInt8](repeating: UInt8(ascii: "0"), count: bytes.count), masked: [0..<bytes.count])
    }
}
