import Foundation
import GatewayKit
import SwiftProtobuf
import Testing

@testable import ESPHome

/// Conversations of ESPHome's official clients with a proxy made of ESPHome's own library (`Tests/Campaigns/esphome`): a frame a line.
@Suite struct FixtureTests {
    private struct Line {
        var isOfProxy: Bool
        var packet: Packet
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

    private static func lines(_ name: String) throws -> [Line] {
        let text = try String(contentsOf: folder.appending(path: "\(name).hex"), encoding: .utf8)
        return try text.split(separator: "\n").filter { !$0.hasPrefix("#") }.flatMap { line in
            var codec = try FrameCodec(nil)
            let hex = Array(line.dropFirst(2).utf8)
            let bytes = stride(from: 0, to: hex.count, by: 2).compactMap {
                UInt8(String(decoding: hex[$0..<($0 + 2)], as: UTF8.self), radix: 16)
            }
            return try codec.receive(bytes).map { Line(isOfProxy: line.hasPrefix("<"), packet: $0) }
        }
    }

    @Test(arguments: ["bleak", "cuff", "errors", "newest_takes", "old", "strap"])
    func `each frame of ESPHome's own library is one packet, which is read and written the same`(name: String) throws {
        let lines = try Self.lines(name)
        #expect(lines.count > 8 && lines.contains { $0.isOfProxy } && lines.contains { !$0.isOfProxy })
        for line in lines {
            let messages: [any Message.Type] =
                switch line.packet.type {
                case .helloRequest: [APIHelloRequest.self]
                case .deviceRequest: [APIDeviceRequest.self]
                case .deviceConnection: [APIDeviceConnection.self]
                case .readRequest, .readResponse, .writeDescriptorRequest, .notifyData, .servicesDone, .servicesRequest,
                    .writeResponse, .notifyResponse:
                    [APIAttribute.self]
                case .writeRequest: [APIWriteRequest.self]
                case .notifyRequest: [APINotifyRequest.self]
                case .attributeError: [APIAttributeError.self]
                case .connections: [APIConnections.self]
                case .pairing: [APIPairing.self]
                case .advertisements: [APIAdvertisements.self]
                default: []
                }
            for type in messages {
                #expect(try type.init(serializedBytes: line.packet.payload).serializedBytes() == line.packet.payload)
            }
        }
    }

    @Test func `what the strap says is read`() throws {
        let packets = try Self.lines("strap").filter(\.isOfProxy).map(\.packet)
        let heard = try packets.filter { $0.type == .advertisements }.flatMap {
            try $0.decoded(APIAdvertisements.self).items.map { Advertisement($0.data) }
        }
        #expect(heard.contains { $0.name == "Strap" && $0.services == [BluetoothUUID(0x180d)] })
        let info: APIDeviceInfo = try #require(packets.first { $0.type == .deviceInfo }).decoded()
        #expect(
            ProxyFeatures(rawValue: info.features).contains([.connections, .caching, .pairing, .rawAdvertisements]))
        var known = KnownServices()
        for packet in packets where packet.type == .services {
            let isPossible = known.add(try packet.decoded())
            #expect(isPossible)
        }
        let rate = try #require(
            known.services.first { $0.uuid == BluetoothUUID(0x180d) }?.characteristics.first {
                $0.uuid == BluetoothUUID(0x2a37)
            })
        #expect(rate.properties.contains(.notify) && known.switches[rate.handle] != nil)
    }

    @Test func `an old proxy has no features, and is known by its version`() throws {
        let packet = try #require(try Self.lines("old").first { $0.packet.type == .deviceInfo }?.packet)
        let info: APIDeviceInfo = try packet.decoded()
        #expect(info.features == 0 && info.legacyProxy == 2 && info.version == "2022.11.0")
    }
}
