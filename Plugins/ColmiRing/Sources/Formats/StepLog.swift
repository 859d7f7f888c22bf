import GatewayKit
import Vitals

/// Steps of a part of a day.
struct StepRecord: Sendable, Hashable {
    /// The date on the ring's clock; `nil` if there is no such date.
    var day: LocalDay?
    /// The quarter of an hour in which the part begins, from the ring's midnight.
    var quarter: Int
    var steps: Int
    var metres: Int
    /// Energy in hundredths of a kilocalorie, or in thousandths.
    var energy: Int
}

/// Collects the steps of a day, in any order (source: tahnok/colmi_r02_client, `steps.py`).
struct StepReply: ReplyCollector {
    private static let noData: UInt8 = 0xff
    private static let header: UInt8 = 0xf0

    private(set) var isEmpty = false
    /// Whether the energy counts tens of calories, and not calories.
    private(set) var hasTens = false
    private var hasHeader = false
    private var count: Int?
    private var parts: [Int: RingPacket] = [:]

    mutating func collect(_ value: RingValue) -> ReplyProgress {
        guard case .packet(let packet) = value, packet.command == RingRequest.stepLog else { return .unrelated }
        switch packet.data[0] {
        case Self.noData: isEmpty = true
        case Self.header:
            hasHeader = true
            hasTens = packet.data[2] == 1
            if packet.data[1] == 0 { isEmpty = true }
        default:
            let (number, count) = (Int(packet.data[4]), Int(packet.data[5]))
            guard number < count, parts[number] == nil else { return .unrelated }
            self.count = count
            parts[number] = packet
        }
        let isWhole = hasHeader && count.map { count in (0..<count).allSatisfy { parts[$0] != nil } } == true
        return isEmpty || isWhole ? .done : .more
    }

    /// The records, in the order of their numbers.
    var records: [StepRecord] {
        parts.sorted { $0.key < $1.key }.map { _, packet in
            StepRecord(
                day: RingZone.day(digits: Array(packet.data[0..<3])), quarter: Int(packet.data[3]),
                steps: packet.uint16(at: 8), metres: packet.uint16(at: 10), energy: packet.uint16(at: 6))
        }
    }
}
