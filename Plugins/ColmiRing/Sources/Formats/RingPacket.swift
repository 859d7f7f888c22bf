import GatewayKit

/// A packet of the ring's first service: 16 bytes, of which the first is the command and the last the sum of the others, modulo 256
/// (source: tahnok/colmi_r02_client, `packet.py`).
struct RingPacket: Sendable, Hashable {
    /// The bytes of a packet.
    static let length = 16
    /// In a reply, the ring does not know the command, or refuses it.
    private static let refusal: UInt8 = 0x80

    /// The command of a request, which its replies repeat.
    let command: UInt8
    /// The 14 bytes between the command and the sum.
    let data: [UInt8]

    /// A packet with these data, filled with zeros. More than 14 bytes are cut.
    init(_ command: UInt8, _ data: [UInt8] = []) {
        self.command = command
        self.data = Array((data + Array(repeating: 0, count: Self.length)).prefix(Self.length - 2))
    }

    init(_ bytes: [UInt8]) throws(FormatError) {
        guard bytes.count == Self.length else { throw FormatError("a packet has \(bytes.count) bytes instead of 16") }
        guard Self.sum(bytes.dropLast()) == bytes.last else { throw FormatError("the checksum of a packet is wrong") }
        command = bytes[0]
        data = Array(bytes[1..<15])
    }

    /// The 16 bytes.
    var bytes: [UInt8] {
        let content = [command] + data
        return content + [Self.sum(content[...])]
    }

    /// Whether the ring refuses a request with this command.
    func refuses(_ request: UInt8) -> Bool { request & Self.refusal == 0 && command == request | Self.refusal }

    /// Two bytes of the data, the low one first.
    func uint16(at index: Int) -> Int { Int(data[index]) | Int(data[index + 1]) << 8 }

    private static func sum(_ bytes: ArraySlice<UInt8>) -> UInt8 { bytes.reduce(0, &+) }
}
