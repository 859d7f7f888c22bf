import Vitals

/// A recording: a head of 40 bytes, and five bytes for each moment (sources: khromov, "Legacy record file"; MackeyStingray/o2r,
/// `o2file.py`; the maker's own reader, as cited by home-health-hub/viatom-o2ring-ble).
struct OxiFile: Sendable, Hashable {
    /// A moment of a recording.
    struct Record: Sendable, Hashable {
        var oxygen: Int?
        var pulse: Int?
    }

    /// When it began, on the ring's clock.
    let start: LocalTime
    /// Seconds between two records.
    let interval: Int
    let records: [Record]

    /// The bytes before the records.
    static let headLength = 40
    /// The longest file: a duration of 16 bits in seconds, with a record every two.
    static let longest = headLength + recordLength * 32_768
    /// The longest time of a recording: 16 bits of seconds.
    static let longestTime: Duration = .seconds(65_535)
    private static let recordLength = 5
    private static let version: UInt8 = 3

    /// Why a file has no records.
    enum Problem: Error, Sendable, Hashable {
        /// The ring still writes it: its head does not fit to what follows.
        case unfinished
        /// It cannot be read.
        case unreadable(String)
    }

    init(_ bytes: [UInt8]) throws(Problem) {
        guard bytes.count >= Self.headLength else { throw .unfinished }
        guard bytes[0] == Self.version else { throw .unreadable("the version \(bytes[0]) of its format is unknown") }
        func uint16(_ index: Int) -> Int { Int(bytes[index]) | Int(bytes[index + 1]) << 8 }
        guard
            let start = LocalTime(
                year: uint16(2), month: Int(bytes[4]), day: Int(bytes[5]), hour: Int(bytes[6]), minute: Int(bytes[7]),
                second: Int(bytes[8]))
        else { throw .unreadable("it has no possible start") }
        let (size, duration) = (uint16(9) | uint16(11) << 16, uint16(13))
        let body = bytes.dropFirst(Self.headLength)
        let count = body.count / Self.recordLength
        guard size == bytes.count, body.count % Self.recordLength == 0, count > 0 else { throw .unfinished }
        guard let interval = Self.interval(of: count, in: duration) else { throw .unfinished }
        self.start = start
        let all = stride(from: body.startIndex, to: body.endIndex, by: Self.recordLength).map {
            Array(body[$0..<($0 + Self.recordLength)])
        }
        // Some rings write each record of four seconds twice (fact of OSCAR).
        let isDoubled =
            interval == 2 && count.isMultiple(of: 2) && count > 2
            && stride(from: 0, to: count, by: 2).allSatisfy { all[$0] == all[$0 + 1] }
        self.interval = isDoubled ? 4 : interval
        records = stride(from: 0, to: count, by: isDoubled ? 2 : 1).map {
            Record(oxygen: OxiValues.oxygen(all[$0][0]), pulse: OxiValues.pulse(all[$0][1], all[$0][2]))
        }
    }

    /// Two or four seconds between records, whichever fits to the duration; `nil` if none does.
    private static func interval(of count: Int, in duration: Int) -> Int? {
        [4, 2].first { abs(count * $0 - duration) < $0 }
    }

    /// The samples of a metric from a moment on, before another one.
    func samples(of metric: Metric, in calendar: LocalCalendar, from: Timestamp, to: Timestamp) -> [Sample] {
        let begin = start.moment(in: calendar)
        return records.enumerated().compactMap { index, record in
            let moment = begin + .seconds(index * interval)
            guard moment >= from, moment < to,
                let value = metric == .bloodOxygen ? record.oxygen : record.pulse
            else { return nil }
            return Sample(metric: metric, start: moment, reading: .value(Double(value)))
        }
    }
}
