/// A request to the ring: `AA`, the command, its complement, the number of a block, the length of the content (both 16 bits, the low byte
/// first), the content, and a checksum (sources: MackeyStingray/o2r, `o2pkt.py`; khromov/wellue-o2ring-web-ui, `PROTOCOL.md`).
struct OxiRequest: Sendable, Hashable {
    /// Commands. 18 and 19, which reset the ring, do not exist here.
    enum Command: UInt8, Sendable {
        case open = 0x03
        case block = 0x04
        case close = 0x05
        case information = 0x14
        case ping = 0x15
        case configure = 0x16
        case values = 0x17
    }

    var command: Command
    var block = 0
    var content: [UInt8] = []

    private static let start: UInt8 = 0xaa

    /// The bytes.
    var bytes: [UInt8] {
        let head = [Self.start, command.rawValue, ~command.rawValue]
        let numbers = [block, content.count].flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8 & 0xff)] }
        let all = head + numbers + content
        return all + [OxiChecksum.of(all[...])]
    }

    /// Opens a file, whose name ends with a zero.
    static func open(_ name: String) -> OxiRequest { OxiRequest(command: .open, content: Array(name.utf8) + [0]) }

    /// Sets values by their names, as texts (source: khromov).
    static func configure(_ values: [(name: String, value: String)]) -> OxiRequest {
        let members = values.map { "\"\($0.name)\":\"\($0.value)\"" }
        return OxiRequest(command: .configure, content: Array("{\(members.joined(separator: ","))}".utf8))
    }
}

/// CRC-8: polynomial 07, beginning with 0.
enum OxiChecksum {
    static func of(_ bytes: ArraySlice<UInt8>) -> UInt8 {
        bytes.reduce(0) { sum, byte in
            (0..<8).reduce(sum ^ byte) { sum, _ in sum & 0x80 != 0 ? sum << 1 ^ 0x07 : sum << 1 }
        }
    }
}

/// A reply: `55`, a status, its complement, the number of the block, the length, the content, and the checksum. It does not say to which
/// request it belongs.
struct OxiReply: Sendable, Hashable {
    /// 0 if the request was done.
    var status: UInt8 = 0
    var block = 0
    var content: [UInt8] = []
}

/// Puts replies together from the values in which they come. What is no part of a reply is passed over.
struct OxiReplyAssembler: Sendable {
    /// A longer content is a damaged length: a block of a file has at most a kilobyte.
    static let longest = 4096
    private static let start: UInt8 = 0x55
    private static let headLength = 7

    private var waiting: [UInt8] = []
    /// Bytes that were no part of a reply.
    private(set) var passed = 0

    mutating func append(_ value: [UInt8]) -> [OxiReply] {
        waiting += value
        var replies: [OxiReply] = []
        while let begin = waiting.firstIndex(of: Self.start) {
            drop(begin)
            guard waiting.count >= Self.headLength else { return replies }
            let length = Int(waiting[5]) | Int(waiting[6]) << 8
            guard waiting[2] == ~waiting[1], length <= Self.longest else {
                drop(1)
                continue
            }
            let end = Self.headLength + length
            guard waiting.count > end else { return replies }
            guard OxiChecksum.of(waiting[..<end]) == waiting[end] else {
                drop(1)
                continue
            }
            replies.append(
                OxiReply(
                    status: waiting[1], block: Int(waiting[3]) | Int(waiting[4]) << 8,
                    content: Array(waiting[Self.headLength..<end])))
            waiting.removeFirst(end + 1)
        }
        drop(waiting.count)
        return replies
    }

    /// Forgets the beginning of a reply.
    mutating func reset() { waiting = [] }

    private mutating func drop(_ count: Int) {
        passed += count
        waiting.removeFirst(count)
    }
}
