import GatewayKit
import Recordings
import Vitals

/// How what the gateway writes must match what it wrote when the recording was made. What was masked always matches as many bytes.
enum Comparison: String, CaseIterable, Sendable {
    /// What the gateway does may differ, and gets the answer that its like got. A stream without calls of JSON-RPC is compared as by
    /// `clocks`.
    case tolerant
    /// Every byte.
    case exact
    /// Every byte but those of clocks; see `ClockText`.
    case clocks
    /// Only the number of bytes: for protocols with clocks in binary requests.
    case length
    /// Nothing: any write matches the recorded one.
    case none

    /// Characteristics that are written with the time of day (Bluetooth SIG, GATT Specification Supplement: Current Time, Date Time,
    /// Local Time Information, Time Zone, Day Date Time).
    private static let timeCharacteristics: Set<BluetoothUUID> = Set(
        ([0x2a2b, 0x2a08, 0x2a0f, 0x2a0e, 0x2a0a] as [UInt16]).map { BluetoothUUID($0) })

    /// Whether these bytes stand for the recorded ones. `characteristic` is that of a write to one.
    func matches(_ bytes: [UInt8], _ recorded: RecordedBytes, of characteristic: BluetoothUUID? = nil) -> Bool {
        switch self {
        case .exact: Self.matches(bytes, recorded) { _, _ in nil }
        case .clocks where isOfTime(characteristic), .tolerant where isOfTime(characteristic):
            bytes.count == recorded.bytes.count
        case .clocks, .tolerant: Self.matches(bytes, recorded, clock: ClockText.end(_:from:))
        case .length: bytes.count == recorded.bytes.count
        case .none: true
        }
    }

    private func isOfTime(_ characteristic: BluetoothUUID?) -> Bool {
        characteristic.map { Self.timeCharacteristics.contains($0) } ?? false
    }

    /// Walks along both. `clock` returns the end of a clock that begins at an index.
    private static func matches(
        _ bytes: [UInt8], _ recorded: RecordedBytes, clock: (_ text: [UInt8], _ index: Int) -> Int?
    ) -> Bool {
        var (here, there) = (0, 0)
        var masked = recorded.masked[...]
        while there < recorded.bytes.count, here < bytes.count {
            masked = masked.drop { $0.upperBound <= there }
            if let range = masked.first, range.lowerBound <= there {
                here += range.upperBound - there
                there = range.upperBound
            } else if let end = clock(bytes, here), let other = clock(recorded.bytes, there) {
                (here, there) = (end, other)
            } else if bytes[here] == recorded.bytes[there] {
                here += 1
                there += 1
            } else {
                return false
            }
        }
        return here == bytes.count && there == recorded.bytes.count
    }
}

/// A difference between what the gateway wrote and the recording.
struct Difference: Error, Sendable, Hashable, CustomStringConvertible {
    /// The most bytes of each side that are shown.
    static let shownBytes = 64

    /// The file.
    var path: String
    /// The line that was expected; 0 if nothing was.
    var line: Int
    /// Where: the byte of the gateway's stream, or the call.
    var position: String
    /// What was recorded.
    var expected: String
    /// What the gateway did.
    var actual: String

    var description: String {
        let place = line > 0 ? "\(path), line \(line)" : path
        return "The gateway differs from the recording (\(place), \(position)). Recorded: \(expected). Now: \(actual)."
    }

    /// Bytes as digits and, where they are plain text, as such.
    static func show(_ bytes: some Collection<UInt8>) -> String {
        guard !bytes.isEmpty else { return "nothing" }
        let shown = Array(bytes.prefix(shownBytes))
        let more = bytes.count > shown.count ? "… (\(bytes.count) bytes)" : ""
        let isText = shown.allSatisfy { (0x20...0x7e).contains($0) || $0 == UInt8(ascii: "\n") }
        let text = isText ? " = \(String(decoding: shown, as: UTF8.self).debugDescription)" : ""
        return Hexadecimal.text(shown) + more + text
    }
}
