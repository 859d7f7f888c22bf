import Logging

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Splits a program's standard error into lines for the log, and skips what would flood it.
struct LogLines {
    /// The longest line kept whole, in bytes. A longer line is an error or a dump, not for people to read; the bound
    /// limits memory.
    static let longestLine = 4_096
    /// The lines of one program that are logged in a second: a whole stack trace fits, and a program that writes
    /// without end costs little. The others are counted.
    static let linesPerSecond = 100

    /// A line without its level prefix and its line end.
    struct Line: Hashable {
        var level: Logger.Level
        var text: String
        /// How many bytes of it were cut off.
        var cut = 0
    }

    private var bytes: [UInt8] = []
    private var cut = 0
    private var second: Duration?
    private var countOfSecond = 0
    private var isInsideSkipped = false
    private var skipped = 0
    private var ends = 0

    /// Whether lines were skipped and not reported yet.
    var hasSkipped: Bool { skipped > 0 }

    /// The number of lines that were skipped since the last call.
    mutating func takeSkipped() -> Int {
        defer { skipped = 0 }
        return skipped
    }

    /// The number of lines that ended since the last call, with the empty ones.
    mutating func takeEnds() -> Int {
        defer { ends = 0 }
        return ends
    }

    /// Takes bytes and returns the lines they complete, without the empty ones. `now` is a steady time.
    mutating func append(_ new: UnsafeRawBufferPointer, at now: Duration) -> [Line] {
        if second.map({ now - $0 >= .seconds(1) }) ?? true {
            second = now
            countOfSecond = 0
        }
        var lines: [Line] = []
        var rest = new[...]
        while !rest.isEmpty {
            let piece = rest.prefix(bytesBeforeLineEnd(of: rest))
            let isWhole = piece.count < rest.count
            if isWhole { ends += 1 }
            rest = rest.dropFirst(piece.count + 1)
            if isInsideSkipped || countOfSecond >= Self.linesPerSecond {
                skip(piece, isWhole: isWhole)
            } else {
                buffer(piece)
                guard isWhole, let line = completeLine() else { continue }
                countOfSecond += 1
                lines.append(line)
            }
        }
        return lines
    }

    private func bytesBeforeLineEnd(of bytes: Slice<UnsafeRawBufferPointer>) -> Int {
        let bytes = UnsafeRawBufferPointer(rebasing: bytes)
        // Many times as fast as a search by byte, which matters for a program that writes hundreds of megabytes.
        guard let start = bytes.baseAddress, let end = memchr(start, 10, bytes.count) else { return bytes.count }
        return start.distance(to: UnsafeRawPointer(end))
    }

    private mutating func buffer(_ piece: Slice<UnsafeRawBufferPointer>) {
        let kept = piece.prefix(Self.longestLine - bytes.count)
        bytes += kept
        cut += piece.count - kept.count
    }

    private mutating func skip(_ piece: Slice<UnsafeRawBufferPointer>, isWhole: Bool) {
        if !isInsideSkipped, !piece.isEmpty { skipped += 1 }
        isInsideSkipped = !isWhole && (isInsideSkipped || !piece.isEmpty)
    }

    /// The last line without a line end, `nil` if there is none.
    mutating func completeLine() -> Line? {
        defer {
            bytes.removeAll(keepingCapacity: true)
            cut = 0
        }
        if bytes.last == UInt8(ascii: "\r"), cut == 0 { bytes.removeLast() }
        guard !bytes.isEmpty else { return nil }
        let level = Self.level(of: bytes.prefix(3))
        // Removed because control characters could move the cursor in the terminal of a person who reads the log.
        let text = String(
            String.UnicodeScalarView(
                String(decoding: level == nil ? bytes[...] : bytes.dropFirst(3), as: UTF8.self).unicodeScalars
                    .map { $0.properties.generalCategory == .control && $0 != "\t" ? "\u{FFFD}" : $0 }))
        return Line(level: level ?? .info, text: text, cut: cut)
    }

    /// The level prefix of a line, in the format of Telegraf's plugins.
    private static func level(of prefix: ArraySlice<UInt8>) -> Logger.Level? {
        switch String(decoding: prefix, as: UTF8.self) {
        case "E! ": .error
        case "W! ": .warning
        case "I! ": .info
        case "D! ": .debug
        default: nil
        }
    }
}
