import GatewayKit
import Vitals

/// The lowest and the highest blood oxygen of each hour of a day.
struct OxygenDay: Sendable, Hashable {
    /// An hour, in per cent; 0 means no value.
    struct Hour: Sendable, Hashable {
        var lowest: UInt8
        var highest: UInt8
    }

    var daysAgo: Int
    /// 24 hours from the ring's midnight.
    var hours: [Hour]

    private static let length = 49

    /// The days of a message's body: a byte with the number of days ago, and two for each hour.
    static func days(in body: [UInt8]) throws(FormatError) -> [OxygenDay] {
        guard body.count % length == 0 else {
            throw FormatError("\(body.count) bytes are no whole days of blood oxygen")
        }
        return stride(from: 0, to: body.count, by: length).map { start in
            OxygenDay(
                daysAgo: Int(body[start]),
                hours: (0..<24).map {
                    Hour(lowest: body[start + 1 + 2 * $0], highest: body[start + 2 + 2 * $0])
                })
        }
    }
}

/// The temperatures of a day, one for each half of an hour.
struct TemperatureDay: Sendable, Hashable {
    var daysAgo: Int
    /// 48 values from the ring's midnight, in tenths of a degree above 20 °C; 0 means no value.
    var values: [UInt8]

    /// The minutes of a slot, which the second byte of a day has, too.
    static let interval = 30
    private static let length = 50

    static func days(in body: [UInt8]) throws(FormatError) -> [TemperatureDay] {
        guard body.count % length == 0 else {
            throw FormatError("\(body.count) bytes are no whole days of temperature")
        }
        var days: [TemperatureDay] = []
        for start in stride(from: 0, to: body.count, by: length) {
            guard Int(body[start + 1]) == interval else {
                throw FormatError("temperatures are \(body[start + 1]) minutes apart instead of \(interval)")
            }
            days.append(TemperatureDay(daysAgo: Int(body[start]), values: Array(body[(start + 2)..<(start + length)])))
        }
        return days
    }

    /// Degrees Celsius of a value.
    static func celsius(_ value: UInt8) -> Double { (200 + Double(value)) / 10 }
}

/// A sleep, which belongs to the day of its end.
struct SleepRecord: Sendable, Hashable {
    /// A stage: what it is, and its minutes.
    struct Stage: Sendable, Hashable {
        var depth: Sleep.Stage.Depth?
        var minutes: Int
    }

    var daysAgo: Int
    /// Minutes from the midnight of that day; negative on the evening before.
    var start: Int
    var end: Int
    /// The stages without a pause, from the start.
    var stages: [Stage]

    /// The sleeps in a message's body: their number; for each the days ago, the length of what follows, start and end in minutes from
    /// midnight, and two bytes for each stage.
    static func records(in body: [UInt8]) throws(FormatError) -> [SleepRecord] {
        guard let count = body.first else { return [] }
        var rest = body.dropFirst()
        var records: [SleepRecord] = []
        for _ in 0..<count {
            let head = Array(rest.prefix(6))
            guard head.count == 6 else { throw FormatError("a sleep is cut") }
            let length = Int(head[1])
            guard length >= 4, rest.count >= 2 + length, length % 2 == 0 else {
                throw FormatError("a sleep has \(length) bytes")
            }
            let (start, end) = (Int(head[2]) | Int(head[3]) << 8, Int(head[4]) | Int(head[5]) << 8)
            guard start < 1440, end <= 1440 else { throw FormatError("a sleep is from minute \(start) to \(end)") }
            let stages = Array(rest.dropFirst(6).prefix(length - 4))
            records.append(
                SleepRecord(
                    daysAgo: Int(head[0]), start: start > end ? start - 1440 : start, end: end,
                    stages: stride(from: 0, to: stages.count, by: 2).map {
                        Stage(depth: depth(stages[$0]), minutes: Int(stages[$0 + 1]))
                    }))
            rest = rest.dropFirst(2 + length)
        }
        return records
    }

    private static func depth(_ code: UInt8) -> Sleep.Stage.Depth? {
        switch code {
        case 2: .light
        case 3: .deep
        case 4: .rem
        case 5: .awake
        default: nil
        }
    }
}
