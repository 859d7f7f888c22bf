import NIOCore

@testable import ESPHome

/// A client of the fake proxy, with the frames of its connection.
final class FakeProxyClient {
    let channel: any Channel
    private let key: [UInt8]?
    private let name: String
    private var buffer: [UInt8] = []
    private var noise: FakeNoise?
    private var hasHello = false
    /// Whether the proxy ends the connection.
    private(set) var isRefused = false

    init(_ channel: any Channel, key: [UInt8]?, name: String) {
        (self.channel, self.key, self.name) = (channel, key, name)
    }

    private func write(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

    private func frame(_ body: [UInt8]) { write([1, UInt8(body.count >> 8), UInt8(body.count & 0xff)] + body) }

    private func refuse(_ bytes: [UInt8]) {
        write(bytes)
        isRefused = true
    }

    func send(_ packet: Packet) {
        let (number, count) = (packet.number, packet.payload.count)
        guard key != nil else { return write([0] + Self.varint(count) + Self.varint(Int(number)) + packet.payload) }
        let header = [UInt8(number >> 8), UInt8(number & 0xff), UInt8(count >> 8), UInt8(count & 0xff)]
        if let body = try? noise?.seal(header + packet.payload) { frame(body) }
    }

    private static func varint(_ number: Int) -> [UInt8] {
        number < 128 ? [UInt8(number)] : [UInt8(number & 0x7f | 0x80)] + varint(number >> 7)
    }

    /// The packets of the client.
    func packets(_ bytes: [UInt8]) throws -> [Packet] {
        buffer += bytes
        var packets: [Packet] = []
        while !isRefused, let packet = try key == nil ? plain() : encrypted() {
            if let packet = packet.value { packets.append(packet) }
        }
        return packets
    }

    private struct Step { var value: Packet? }

    private func plain() throws -> Step? {
        guard let first = buffer.first else { return nil }
        guard first == 0 else {
            refuse([0] + Array("Bad indicator byte".utf8))
            return nil
        }
        var place = 1
        func varint() -> Int? {
            var (number, shift) = (0, 0)
            while place < buffer.count {
                let byte = Int(buffer[place])
                place += 1
                number |= (byte & 0x7f) << shift
                if byte < 128 { return number }
                shift += 7
            }
            return nil
        }
        guard let length = varint(), let number = varint(), buffer.count >= place + length else { return nil }
        defer { buffer.removeFirst(place + length) }
        return Step(value: Packet(number: UInt32(number), payload: Array(buffer[place..<(place + length)])))
    }

    private func encrypted() throws -> Step? {
        guard let first = buffer.first else { return nil }
        guard first == 1 else {
            let reason = [1] + Array("Bad indicator byte".utf8)
            refuse([1, 0, UInt8(reason.count)] + reason)
            return nil
        }
        guard buffer.count >= 3, buffer.count >= 3 + Int(buffer[1]) << 8 + Int(buffer[2]) else { return nil }
        let length = Int(buffer[1]) << 8 + Int(buffer[2])
        let body = Array(buffer[3..<(3 + length)])
        buffer.removeFirst(3 + length)
        if !hasHello {
            hasHello = true
            frame([1] + Array(name.utf8) + [0] + Array("AABBCCDDEEFF".utf8) + [0])
        } else if noise == nil {
            var noise = FakeNoise()
            do { frame([0] + (try noise.answer(Array(body.dropFirst()), psk: key ?? []))) } catch {
                let reason = [1] + Array("Handshake MAC failure".utf8)
                refuse([1, 0, UInt8(reason.count)] + reason)
            }
            self.noise = noise
        } else if let message = try noise?.open(body) {
            return Step(
                value: Packet(number: UInt32(message[0]) << 8 | UInt32(message[1]), payload: Array(message[4...])))
        }
        return Step()
    }
}
