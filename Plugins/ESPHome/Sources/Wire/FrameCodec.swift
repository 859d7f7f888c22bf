/// The frames of a connection to an ESPHome device: bytes to packets and back, plain or encrypted (esphome.io, native API protocol).
///
/// A plain frame is 0, the length of the payload and the number of the message as varints, and the payload. An encrypted one is 1, a
/// length of two bytes, most significant first, and what Noise has sealed: number and length of the message, two bytes each, and the
/// payload. Before these come the client's hello (empty) with its part of the handshake, and the proxy's hello and part.
struct FrameCodec: Sendable {
    /// The most bytes of a payload: an encrypted frame cannot have more, and an ESP32 sends at most 32 KiB.
    static let longestPayload = 65_535
    /// The most bytes of a varint of 32 bits.
    static let longestVarint = 5

    private enum Mode: Sendable {
        case plain
        /// The proxy's hello has not come.
        case hello(NoiseHandshake)
        /// The proxy's part of the handshake has not come.
        case handshake(NoiseHandshake)
        case encrypted(send: NoiseCipher, receive: NoiseCipher)
    }
    private var mode: Mode
    private var buffer: [UInt8] = []
    /// The bytes that open the connection.
    let opening: [UInt8]
    /// The name of the proxy in its hello, which only an encrypted connection has.
    private(set) var name: String?

    /// Frames of a new connection, encrypted if there is a key.
    init(_ handshake: NoiseHandshake?) throws(WireError) {
        guard var handshake else {
            (mode, opening) = (.plain, [])
            return
        }
        let part = [0] + (try handshake.opening())
        opening = Self.framed([]) + Self.framed(part)
        mode = .hello(handshake)
    }

    /// Whether packets can be sent.
    var isReady: Bool {
        switch mode {
        case .plain, .encrypted: true
        case .hello, .handshake: false
        }
    }

    private static func framed(_ body: [UInt8]) -> [UInt8] {
        [1, UInt8(body.count >> 8 & 0xff), UInt8(body.count & 0xff)] + body
    }

    /// The bytes of a packet.
    mutating func encode(_ packet: Packet) throws(WireError) -> [UInt8] {
        guard packet.payload.count < Self.longestPayload - 64 else { throw .tooLong(packet.payload.count) }
        switch mode {
        case .plain:
            return [0] + Self.varint(UInt32(packet.payload.count)) + Self.varint(packet.number) + packet.payload
        case .encrypted(var send, let receive):
            let (number, count) = (packet.number, packet.payload.count)
            let header = [UInt8(number >> 8 & 0xff), UInt8(number & 0xff), UInt8(count >> 8), UInt8(count & 0xff)]
            let body = try send.seal(header + packet.payload)
            mode = .encrypted(send: send, receive: receive)
            return Self.framed(body)
        case .hello, .handshake: throw .malformed("the handshake is not over")
        }
    }

    private static func varint(_ number: UInt32) -> [UInt8] {
        var (rest, bytes) = (number, [UInt8]())
        while rest > 0x7f {
            bytes.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    /// The packets that are complete with these bytes.
    mutating func receive(_ bytes: some Sequence<UInt8>) throws(WireError) -> [Packet] {
        buffer += bytes
        var packets: [Packet] = []
        var place = 0
        if case .plain = mode {
            while let packet = try plainPacket(at: &place) { packets.append(packet) }
        } else {
            while let body = try encryptedBody(at: &place) {
                if let packet = try open(body) { packets.append(packet) }
            }
        }
        buffer.removeFirst(place)
        return packets
    }

    private func plainPacket(at place: inout Int) throws(WireError) -> Packet? {
        guard let first = buffer[place...].first else { return nil }
        guard first == 0 else {
            throw first == 1 ? .keyNeeded : .malformed("it begins a frame with \(first)")
        }
        var next = place + 1
        guard let length = try readVarint(at: &next) else { return nil }
        guard length <= Self.longestPayload else { throw .tooLong(Int(length)) }
        guard let number = try readVarint(at: &next), buffer.count - next >= Int(length) else { return nil }
        place = next + Int(length)
        return Packet(number: number, payload: Array(buffer[next..<place]))
    }

    private func readVarint(at place: inout Int) throws(WireError) -> UInt32? {
        var number: UInt64 = 0
        for (index, byte) in buffer[place...].prefix(Self.longestVarint).enumerated() {
            number |= UInt64(byte & 0x7f) << (7 * UInt64(index))
            if byte & 0x80 == 0 {
                place += index + 1
                return UInt32(clamping: number)
            }
        }
        guard buffer.count - place < Self.longestVarint else { throw .malformed("it sends a number without an end") }
        return nil
    }

    private func encryptedBody(at place: inout Int) throws(WireError) -> [UInt8]? {
        guard let first = buffer[place...].first else { return nil }
        guard first == 1 else {
            throw first == 0 ? .keyNotUsed : .malformed("it begins a frame with \(first)")
        }
        guard buffer.count - place >= 3 else { return nil }
        let length = Int(buffer[place + 1]) << 8 | Int(buffer[place + 2])
        guard buffer.count - place - 3 >= length else { return nil }
        defer { place += 3 + length }
        return Array(buffer[(place + 3)..<(place + 3 + length)])
    }

    private mutating func open(_ body: [UInt8]) throws(WireError) -> Packet? {
        switch mode {
        case .plain: return nil
        case .hello(let handshake):
            guard body.first == 1 else { throw .malformed("it chooses an unknown encryption") }
            let text = body.dropFirst().prefix { $0 != 0 }
            if !text.isEmpty { name = String(decoding: text, as: UTF8.self) }
            mode = .handshake(handshake)
            return nil
        case .handshake(var handshake):
            guard body.first == 0 else {
                let reason = String(decoding: body.dropFirst(), as: UTF8.self)
                throw reason.hasPrefix("Handshake MAC failure") ? .wrongKey : .refused(reason)
            }
            let ciphers = try handshake.finished(by: Array(body.dropFirst()))
            mode = .encrypted(send: ciphers.send, receive: ciphers.receive)
            return nil
        case .encrypted(let send, var receive):
            let message = try receive.open(body)
            mode = .encrypted(send: send, receive: receive)
            guard message.count >= 4 else { throw .malformed("a message of \(message.count) bytes has no header") }
            let length = Int(message[2]) << 8 | Int(message[3])
            guard message.count - 4 >= length else { throw .malformed("a message is shorter than it says") }
            return Packet(
                number: UInt32(message[0]) << 8 | UInt32(message[1]), payload: Array(message[4..<(4 + length)]))
        }
    }
}
