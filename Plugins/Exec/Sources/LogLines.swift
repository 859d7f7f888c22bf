import Logging

/// Splits a program's standard error into lines for the log.
struct LogLines {
    /// The longest line kept whole, in bytes. A longer line is a mistake or a dump, not for people to read; the bound
    /// limits memory.
    static let longestLine = 4_096

    /// A line without its level prefix and its line end.
    struct Line: Hashable {
        var level: Logger.Level
        var text: String
        /// How many bytes of it were cut off.
        var cut = 0
    }

    private var bytes: [UInt8] = []
    private var cut = 0

    /// Takes bytes and returns the lines they complete, without the empty ones.
    mutating func take(_ new: some Sequence<UInt8>) -> [Line] {
        var lines: [Line] = []
        for byte in new {
            if byte == UInt8(ascii: "\n") {
                if let line = finish() { lines.append(line) }
            } else if bytes.count < Self.longestLine {
                bytes.append(byte)
            } else {
                cut += 1
            }
        }
        return lines
    }

    /// The last line without a line end, `nil` if there is none.
    mutating func finish() -> Line? {
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
