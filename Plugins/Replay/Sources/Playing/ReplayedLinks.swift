import GatewayKit
import Recordings

/// A stream that is played from a recording.
struct ReplayedByteLink: ByteLink {
    private let playback: Playback

    init(_ playback: Playback) { self.playback = playback }

    func read(atMost limit: Int) async throws(LinkError) -> [UInt8] { try await playback.read(atMost: limit) }

    func write(_ bytes: [UInt8]) async throws(LinkError) { try playback.write(bytes) }
}

/// A Bluetooth link that is played from a recording. The device does not read what the gateway serves, and its signal is unknown.
struct ReplayedGATTLink: GATTLink {
    private let playback: Playback
    let services: [GATTService]
    let maximumPayload: Int

    init(_ playback: Playback, services: [GATTService], maximumPayload: Int) {
        self.playback = playback
        self.services = services
        self.maximumPayload = maximumPayload
    }

    func read(_ characteristic: GATTCharacteristic) async throws(GATTError) -> [UInt8] {
        try await playback.call(PlayedCall(call: .read(characteristic.handle), characteristic: characteristic.uuid))
    }

    func write(
        _ bytes: [UInt8], to characteristic: GATTCharacteristic, _ kind: GATTWrite
    ) async throws(GATTError) {
        let call = RecordedCall.write(characteristic.handle, RecordedBytes(bytes), kind)
        _ = try await playback.call(PlayedCall(call: call, characteristic: characteristic.uuid))
    }

    func subscribe(to characteristic: GATTCharacteristic) async throws(GATTError) {
        let call = RecordedCall.subscribe(characteristic.handle)
        _ = try await playback.call(PlayedCall(call: call, characteristic: characteristic.uuid))
    }

    func unsubscribe(from characteristic: GATTCharacteristic) async throws(GATTError) {
        let call = RecordedCall.unsubscribe(characteristic.handle)
        _ = try await playback.call(PlayedCall(call: call, characteristic: characteristic.uuid))
    }

    func serve(_ services: [GATTLocalService]) async throws(GATTError) {
        _ = try await playback.call(PlayedCall(call: .serve(services.map(\.uuid)), characteristic: nil))
    }

    func nextValue() async throws(LinkError) -> GATTValue? { try await playback.nextValue() }

    func signalStrength() async -> Int? { nil }
}
