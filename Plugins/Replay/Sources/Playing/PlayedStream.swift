import Recordings

/// The bytes that the gateway must write to a recorded stream. It may write them in other pieces, and earlier.
struct PlayedStream {
    /// The most bytes of a line that has not ended, beyond the length of the recorded one: clocks may be longer.
    static let slack = 256

    /// What is recorded and was not written yet.
    private var expected: RecordedBytes
    /// The index of each recorded event, with the offset at which its bytes end.
    private var ends: ArraySlice<(event: Int, end: Int)>
    /// What was written and could not be compared yet.
    private var pending: [UInt8] = []
    private var position = 0
    /// How many bytes the gateway has written that are compared.
    private(set) var written = 0
    private let comparison: Comparison

    init(_ events: [RecordedEvent], _ comparison: Comparison) {
        var all = RecordedBytes([])
        var ends: [(event: Int, end: Int)] = []
        for (index, event) in events.enumerated() {
            guard case .sent(let bytes) = event.content else { continue }
            all.append(bytes)
            ends.append((index, all.bytes.count))
        }
        expected = all
        self.ends = ends[...]
        self.comparison = comparison
    }

    /// What was expected, and what came.
    struct Mismatch: Error {
        var event: Int?
        var position: Int
        var expected: [UInt8]
        var actual: [UInt8]
    }

    /// Takes what the gateway writes. Returns the events that are done by it.
    mutating func write(_ bytes: [UInt8]) throws(Mismatch) -> [Int] {
        if comparison == .none {
            written += bytes.count
            return ends.popFirst().map { [$0.event] } ?? []
        }
        pending += bytes
        while !pending.isEmpty {
            guard let (here, there) = try nextPart() else { break }
            let part = expected.part(position..<position + there)
            guard comparison.matches(Array(pending.prefix(here)), part) else { throw mismatch(there, here) }
            pending.removeFirst(here)
            written += here
            position += there
        }
        var done: [Int] = []
        while let first = ends.first, first.end <= position {
            done.append(first.event)
            ends.removeFirst()
        }
        return done
    }

    /// How many bytes of what was written, and of what was recorded, are compared next; `nil` if more must be written first.
    ///
    /// Text is compared by lines, since clocks may be longer or shorter in it, and anything else by bytes.
    private func nextPart() throws(Mismatch) -> (here: Int, there: Int)? {
        let rest = expected.bytes.count - position
        guard rest > 0 else { throw mismatch(0, pending.count) }
        let lineFeed = UInt8(ascii: "\n")
        guard [.clocks, .tolerant].contains(comparison),
            let end = expected.bytes[position...].firstIndex(of: lineFeed)
        else {
            let count = min(rest, pending.count)
            return (count, count)
        }
        let there = end - position + 1
        if let end = pending.firstIndex(of: lineFeed) { return (end + 1, there) }
        guard pending.count <= there + Self.slack else { throw mismatch(there, pending.count) }
        return nil
    }

    private func mismatch(_ there: Int, _ here: Int) -> Mismatch {
        let (recorded, actual) = (expected.bytes[position..<position + there], pending.prefix(here))
        let common = zip(recorded, actual).prefix { $0 == $1 }.count
        return Mismatch(
            event: ends.first?.event, position: written + common, expected: Array(recorded.dropFirst(common)),
            actual: Array(actual.dropFirst(common)))
    }
}

extension RecordedBytes {
    /// The part with these positions.
    fileprivate func part(_ range: Range<Int>) -> RecordedBytes {
        RecordedBytes(
            Array(bytes[range]),
            masked: masked.compactMap { mask in
                let part = mask.clamped(to: range)
                return part.isEmpty ? nil : part.lowerBound - range.lowerBound..<part.upperBound - range.lowerBound
            })
    }
}
