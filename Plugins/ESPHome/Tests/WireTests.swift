import Crypto
import Foundation
import GatewayKit
import SwiftProtobuf
import TestSupport
import Testing
import Vitals

@testable import ESPHome

/// Frames and encryption, byte by byte.
@Suite struct WireTests {
    private static func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.utf8.count, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }
    }

    /// Both sides' bytes for the key 00…1f and the private keys 01… and 02…, by the Python package noiseprotocol 0.3.1.
    private static let part = bytes(
        "a4e09292b651c278b9772c569f5fa9bb13d906b46ab68c9df9dc2b4409f8a209f0c00e96458473006479a4a6d2f4c0b6")
    private static let answer = bytes(
        "ce8d3ad1ccb633ec7b70c17814a5c76ecd029685050d344745ba05870e587d596861a524ec5a0c60694277c72b6e7035")
    private static let pong = bytes("d87d80c6310af420ad1446f9138c9a86e7c7a75c")

    private static func framed(_ body: [UInt8]) -> [UInt8] {
        [1, UInt8(body.count >> 8), UInt8(body.count & 0xff)] + body
    }

    /// What a proxy sends for the keys above: hello, handshake, a pong.
    private static let conversation = framed([1] + Array("bedroom".utf8) + [0]) + framed([0] + answer) + framed(pong)

    private func codec() throws -> FrameCodec {
        let ephemeral = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: [UInt8](repeating: 1, count: 32))
        return try FrameCodec(NoiseHandshake(key: Array(0..<32), ephemeral: ephemeral))
    }

    @Test func `a handshake has the bytes of another implementation, also one byte at a time`() throws {
        var codec = try codec()
        #expect(codec.opening == [1, 0, 0] + Self.framed([0] + Self.part))
        #expect(!codec.isReady)
        var packets: [Packet] = []
        for byte in Self.conversation { packets += try codec.receive([byte]) }
        #expect(packets == [Packet(number: 8, payload: [])])
        #expect(codec.isReady && codec.name == "bedroom")
        let ping = try Packet(.pingRequest)
        #expect(try codec.encode(ping) == Self.framed(Self.bytes("0cedf1e0b1433263967ca9d07a9739dbfcc3329f")))
        #expect(try codec.encode(ping) == Self.framed(Self.bytes("0d84ced53d358cb984d9ad1b228a8c99e02e9076")))
    }

    @Test func `plain packets come whole, however their bytes arrive`() throws {
        var sender = try FrameCodec(nil)
        let packets = [0, 1, 127, 128, 300, 32_768].map {
            Packet(number: UInt32($0) % 200 + 1, payload: [UInt8](repeating: 7, count: $0))
        }
        let bytes = try packets.flatMap { try sender.encode($0) }
        for size in [1, 2, 3, 1000, 100_000] {
            var receiver = try FrameCodec(nil)
            var found: [Packet] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                found += try receiver.receive(bytes[start...].prefix(size))
            }
            #expect(found == packets, "\(size)")
        }
    }

    @Test func `a frame that is too long ends the connection before it is kept`() throws {
        var codec = try FrameCodec(nil)
        #expect(throws: WireError.tooLong(65_536)) { try codec.receive([0, 0x80, 0x80, 4, 93]) }
        var endless = try FrameCodec(nil)
        #expect(throws: WireError.malformed("it sends a number without an end")) {
            try endless.receive([0] + [UInt8](repeating: 0xff, count: FrameCodec.longestVarint))
        }
        #expect(throws: WireError.tooLong(65_535)) {
            try codec.encode(Packet(number: 1, payload: [UInt8](repeating: 0, count: FrameCodec.longestPayload)))
        }
    }

    @Test func `each way to misunderstand each other has its own error`() throws {
        var plain = try FrameCodec(nil)
        #expect(throws: WireError.keyNeeded) { try plain.receive([1, 0, 0]) }
        var other = try FrameCodec(nil)
        #expect(throws: WireError.malformed("it begins a frame with 72")) { try other.receive(Array("HTTP/1.1".utf8)) }
        var keyed = try codec()
        #expect(throws: WireError.keyNotUsed) { try keyed.receive([0] + Array("Bad indicator byte".utf8)) }
        var wrong = try codec()
        #expect(throws: WireError.wrongKey) {
            try wrong.receive(Self.framed([1]) + Self.framed([1] + Array("Handshake MAC failure".utf8)))
        }
        var different = try FrameCodec(NoiseHandshake(key: Array(1..<33)))
        #expect(throws: WireError.wrongKey) { try different.receive(Self.conversation) }
        #expect("\(WireError.refused(String(repeating: "x", count: 500)))".utf8.count < 200)
        #expect(NoiseHandshake.key("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=") == Array(0..<32))
        #expect(NoiseHandshake.key("AAEC") == nil && NoiseHandshake.key("no key") == nil)
    }

    @Test(arguments: 0..<300 as Range<UInt64>) func `damaged bytes are refused, and nothing else happens`(seed: UInt64)
        throws
    {
        var random = SplitMix64(seed: seed)
        var plain = try FrameCodec(nil)
        var frames: [UInt8] = []
        let services = APIServices.with {
            $0.address = 7
            $0.services = [APIService.with { $0.characteristics = [APICharacteristic.with { $0.handle = 3 }] }]
        }
        frames += try plain.encode(try Packet(.services, services))
        frames += try plain.encode(
            try Packet(.advertisements, APIAdvertisements.with { $0.items = [.with { $0.address = 7 }] }))
        Damage.packet(&frames, with: [0, 1, 0x7f, 0x80, 0xff], &random)
        for packet in (try? plain.receive(frames)) ?? [] {
            if let message = try? packet.decoded(APIServices.self) {
                var known = KnownServices()
                _ = known.add(message)
            }
            for item in (try? packet.decoded(APIAdvertisements.self).items) ?? [] { _ = Advertisement(item.data) }
        }
        var conversation = Self.conversation
        Damage.packet(&conversation, with: [0, 1, 0xff], &random)
        var keyed = try codec()
        _ = try? keyed.receive(conversation)
        var data: [UInt8] = [2, 1, 6, 3, 3, 0x0d, 0x18, 6, 9] + Array("Strap".utf8) + [3, 0x16, 0x0d, 0x18]
        Damage.packet(&data, with: [0, 1, 0x1f, 0xff], &random)
        _ = Advertisement(data)
    }

    @Test func `an advertisement has a name and services, up to what is incomplete`() {
        let uuid: [UInt8] = Array((1...16 as ClosedRange<UInt8>).reversed())
        let whole = Advertisement(
            [3, 8, 0x53, 0x74, 6, 9] + Array("Strap".utf8) + [17, 7] + uuid + [3, 3, 0x0d, 0x18])
        #expect(whole.name == "Strap")
        #expect(
            whole.services.map(\.description) == [
                "01020304-0506-0708-090a-0b0c0d0e0f10", "0000180d-0000-1000-8000-00805f9b34fb",
            ])
        let cut = Advertisement([3, 8, 0x53, 0x74, 9, 9, 0x53])
        #expect(cut.name == "St" && cut.services.isEmpty)
        #expect(Advertisement([0, 0, 0]) == Advertisement([]))
        #expect(BluetoothAddress.text(0xa4c1_3800_0a02) == "A4:C1:38:00:0A:02")
    }
}
