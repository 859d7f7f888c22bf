import GatewayKit
import Vitals

// The digests as a driver's notes: per metric and block of days one note with the number of each day in its block (2 bytes) and its
// digest (8 bytes), both little-endian. A new export changes the note of the newest block, and few others.
extension Digests {
    /// The days of a note: 3,650 bytes of the most that a note may have.
    static let block: Int64 = 365
    private static let entry = 10
    private static let prefix = "day."

    /// The notes that keep these digests.
    var notes: [String: [UInt8]] {
        var notes: [String: [UInt8]] = [:]
        for (metric, digests) in days {
            for (day, digest) in digests.sorted(by: { $0.key < $1.key }) {
                let block = Self.floor(day)
                var bytes = notes["\(Self.prefix)\(metric.rawValue).\(block)", default: []]
                withUnsafeBytes(of: UInt16(day - block * Self.block).littleEndian) { bytes += $0 }
                withUnsafeBytes(of: digest.littleEndian) { bytes += $0 }
                notes["\(Self.prefix)\(metric.rawValue).\(block)"] = bytes
            }
        }
        return notes
    }

    /// The digests that notes keep. What cannot be read is skipped: its days are published again.
    init(notes: [String: [UInt8]]) {
        for (name, bytes) in notes where name.hasPrefix(Self.prefix) && bytes.count % Self.entry == 0 {
            let parts = name.dropFirst(Self.prefix.count).split(separator: ".")
            guard parts.count == 2, let metric = Metric(rawValue: String(parts[0])), let block = Int64(parts[1]),
                abs(block) < Int64(UInt16.max)
            else { continue }
            for place in stride(from: 0, to: bytes.count, by: Self.entry) {
                let number = bytes[place..<place + 2].reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
                let digest = bytes[place + 2..<place + Self.entry].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                days[metric, default: [:]][block * Self.block + number] = digest
            }
        }
    }

    /// What makes the notes of other digests those of these; `nil` removes a note.
    func changes(ofNotes others: Digests) -> [String: [UInt8]?] {
        let (wanted, kept) = (notes, others.notes)
        var changes: [String: [UInt8]?] = [:]
        for (name, bytes) in wanted where kept[name] != bytes { changes[name] = .some(bytes) }
        for name in kept.keys where wanted[name] == nil { changes[name] = .some(nil) }
        return changes
    }

    private static func floor(_ day: Int64) -> Int64 { (day - (day % block + block) % block) / block }
}
