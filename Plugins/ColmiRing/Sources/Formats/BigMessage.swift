import GatewayKit

/// A message of the ring's second service: `BC`, its type, the length of its body, a checksum of the body, and the body, cut into values
/// of any length (source: crosser/bluering, `opsv2.py`; that the checksum is CRC-16/MODBUS was found with captured messages).
struct BigMessage: Sendable, Hashable {
    static let temperature: UInt8 = 0x25
    static let sleep: UInt8 = 0x27
    static let oxygen: UInt8 = 0x2a

    /// What it is about.
    let type: UInt8
    let body: [UInt8]

    static let start: UInt8 = 0xbc
    static let headerLength = 6

    /// A request for what the ring has of this type. The byte names what is wanted: 255 for all days.
    static func request(_ type: UInt8) -> [UInt8] {
        // The newer messages know no 255 (fact of Gadgetbridge).
        let body: [UInt8] = [type == temperature ? 2 : 0xff]
        let sum = checksum(body)
        return [start, type, UInt8(body.count), 0, UInt8(sum & 0xff), UInt8(sum >> 8)] + body
    }

    /// CRC-16/MODBUS: polynomial 8005 reflected, beginning with FFFF.
    static func checksum(_ bytes: [UInt8]) -> UInt16 {
        bytes.reduce(0xffff) { sum, byte in
            (0..<8).reduce(sum ^ UInt16(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xa001 : sum >> 1 }
        }
    }
}

/// Puts a message together from the values in which it comes.
struct BigMessageAssembler: Sendable {
    private var waiting: [UInt8] = []

    /// Takes the next value.
    /// - Returns: the message that it completes; `nil` if more must come.
    /// - Throws: a value that begins no message, or a message with a wrong checksum. Both are forgotten.
    mutating func append(_ value: [UInt8]) throws(FormatError) -> BigMessage? {
        if waiting.isEmpty, value.first != BigMessage.start { throw FormatError("a value belongs to no message") }
        waiting += value
        guard waiting.count >= BigMessage.headerLength else { return nil }
        let length = Int(waiting[2]) | Int(waiting[3]) << 8
        guard waiting.count >= BigMessage.headerLength + length else { return nil }
        let message = BigMessage(
            type: waiting[1], body: Array(waiting.dropFirst(BigMessage.headerLength).prefix(length)))
        let sum = UInt16(waiting[4]) | UInt16(waiting[5]) << 8
        waiting = []
        guard BigMessage.checksum(message.body) == sum else { throw FormatError("the checksum of a message is wrong") }
        return message
    }

    /// Forgets the beginning of a message.
    mutating func reset() { waiting = [] }
}
