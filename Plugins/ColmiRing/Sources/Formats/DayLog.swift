import GatewayKit

/// The values of a day in equal slots, which the ring sends in numbered packets: packet 0 has their number and the minutes of a slot,
/// packet 1 has some bytes of its own before its values, and the number 255 says that there are none.
struct DayLog: Sendable, Hashable {
    /// What the packet with the number 1 has before its values.
    enum Heading: Sendable, Hashable {
        /// Four bytes: a second of the day on the ring's clock, as in the request.
        case second
        /// One byte, of which the sources disagree what it means.
        case unknown

        var length: Int { self == .second ? 4 : 1 }
    }

    /// The minutes of a slot.
    let interval: Int
    /// A second of the day on the ring's clock, counted like Unix time; `nil` if the log has none.
    let second: Int?
    /// A value per slot, from the ring's midnight. 0 means no value.
    let values: [UInt8]

    /// The value that some firmware writes where it has none.
    private static let erased: UInt8 = 0xff

    init(_ reply: DayLogReply, _ heading: Heading) throws(FormatError) {
        interval = reply.interval
        guard interval > 0, 1440 % interval == 0 else { throw FormatError("slots have \(interval) minutes") }
        let first = reply.parts[1] ?? []
        guard first.count > heading.length else { throw FormatError("the first packet is missing") }
        second =
            heading == .second
            ? first.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) } : nil
        var values = Array(first.dropFirst(heading.length))
        for number in 2..<max(2, reply.count) { values += reply.parts[number] ?? [] }
        let slots = 1440 / interval
        guard values.count >= slots else { throw FormatError("\(values.count) values are too few for \(slots) slots") }
        self.values = values.prefix(slots).map { $0 == Self.erased ? 0 : $0 }
    }
}

/// Collects the packets of a day's log, in any order.
struct DayLogReply: ReplyCollector {
    private static let noData: UInt8 = 0xff

    let command: UInt8
    /// How many packets there are, with the one that says so; 0 before it came.
    private(set) var count = 0
    private(set) var interval = 0
    /// Whether the ring has nothing of the day.
    private(set) var isEmpty = false
    /// The bytes after the number, by the number.
    private(set) var parts: [Int: [UInt8]] = [:]

    init(_ command: UInt8) { self.command = command }

    mutating func collect(_ value: RingValue) -> ReplyProgress {
        guard case .packet(let packet) = value, packet.command == command else { return .unrelated }
        let number = Int(packet.data[0])
        switch packet.data[0] {
        case Self.noData: isEmpty = true
        case 0:
            count = Int(packet.data[1])
            interval = Int(packet.data[2])
            if count < 2 { isEmpty = true }
        default:
            guard parts[number] == nil else { return .unrelated }
            parts[number] = Array(packet.data.dropFirst())
        }
        let isWhole = count > 0 && (1..<max(1, count)).allSatisfy { parts[$0] != nil }
        return isEmpty || isWhole ? .done : .more
    }
}
