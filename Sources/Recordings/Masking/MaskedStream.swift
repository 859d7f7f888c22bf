/// Masks one direction of a stream, whose pieces may begin and end anywhere.
///
/// The end of a piece that may be the beginning of a secret is held back until the next piece shows whether it is one.
struct MaskedStream {
    private let mask: Mask
    private var members = SensitiveMembers()
    /// Bytes that were recorded although they may begin a secret. They are still compared with what follows.
    private var released: [UInt8] = []
    /// Bytes that wait.
    private var held: [UInt8] = []
    /// For each byte that waits, what takes its place because of its member.
    private var covers: [UInt8?] = []

    /// How many bytes of the beginning of a possible secret are shown at most when it must be released early.
    static let shownBeginning = 3

    init(_ mask: Mask) { self.mask = mask }

    /// Adds a piece, and returns what can be recorded now.
    mutating func add(_ piece: [UInt8]) -> RecordedBytes {
        held += piece
        for byte in piece { covers.append(members.replacement(for: byte)) }
        let all = released + held
        let matches = mask.matches(in: all)
        let begin = released.count
        let matched = matches.last?.range.upperBound ?? 0
        let open = all.count - mask.beginning(in: all, from: matched)
        let end = max(begin, open)
        var shown = all
        var isMasked = [Bool](repeating: false, count: end)
        for index in begin..<end {
            guard let cover = covers[index - begin] else { continue }
            shown[index] = cover
            isMasked[index] = true
        }
        for match in matches {
            mask.cover(&shown, match)
            for index in match.range where index < end { isMasked[index] = true }
        }
        // What was recorded may still begin a secret, if the whole end may.
        released = open < begin ? Array(all[open..<begin]) : []
        if open == all.count { released = all.suffix(mask.shortBeginning(in: all, from: matched)) }
        held.removeFirst(end - begin)
        covers.removeFirst(end - begin)
        return Self.recorded(shown[begin..<end], isMasked[begin..<end])
    }

    /// Returns what was held back: the other side answered to it, or the stream ends. All but a few bytes count as secret.
    mutating func release() -> RecordedBytes {
        defer {
            released += held
            held = []
            covers = []
        }
        let isShort = released.count + held.count <= Self.shownBeginning
        let shown = zip(held, covers).map { byte, cover in cover ?? (isShort ? byte : UInt8(ascii: "*")) }
        return Self.recorded(shown[...], covers.map { $0 != nil || !isShort }[...])
    }

    private static func recorded(_ bytes: ArraySlice<UInt8>, _ isMasked: ArraySlice<Bool>) -> RecordedBytes {
        var ranges: [Range<Int>] = []
        for (position, isMasked) in isMasked.enumerated() where isMasked {
            if let last = ranges.last, last.upperBound == position {
                ranges[ranges.count - 1] = last.lowerBound..<position + 1
            } else {
                ranges.append(position..<position + 1)
            }
        }
        return RecordedBytes(Array(bytes), masked: ranges)
    }
}
