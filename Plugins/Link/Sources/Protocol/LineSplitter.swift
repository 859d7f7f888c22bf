import GatewayKit

/// Splits a stream of bytes into lines. The lines are ranges of `bytes`, so a line that arrived in one piece is not
/// copied.
struct LineSplitter {
    /// The longest line, in bytes without its line end. A page of 2,000 samples is about as long; a device that sends
    /// more without a line feed does not speak this protocol.
    static let maximumLength = 262_144

    /// Received bytes that are not split yet, and the lines returned last.
    private(set) var bytes: [UInt8] = []
    /// Where the next line begins.
    private var start = 0
    /// There is no line feed before this position.
    private var scanned = 0

    /// Adds received bytes. This invalidates all ranges returned before.
    mutating func append(_ chunk: [UInt8]) {
        if start == bytes.count {
            bytes = chunk
        } else {
            bytes.removeSubrange(..<start)
            bytes += chunk
        }
        scanned -= start
        start = 0
        if scanned < 0 { scanned = 0 }
    }

    /// The next complete line without its line end (`\n` or `\r\n`); `nil` if more bytes are needed. Empty lines are
    /// skipped.
    /// - Throws: if a line is longer than `maximumLength`, even before its line end has arrived.
    mutating func next() throws(DeviceError) -> Range<Int>? {
        while scanned < bytes.count {
            let position = scanned
            scanned += 1
            guard bytes[position] == UInt8(ascii: "\n") else { continue }
            var line = start..<position
            start = position + 1
            if let last = line.last, bytes[last] == UInt8(ascii: "\r") { line = line.lowerBound..<last }
            try check(line.count)
            if !line.isEmpty { return line }
        }
        try check(bytes.count - start)
        return nil
    }

    /// Forgets the lines that were returned, and with them the memory of the bytes, unless a part of a line waits: a quiet device does
    /// not keep its last page. This invalidates all ranges returned before.
    mutating func releaseLines() {
        if start == bytes.count { (bytes, start, scanned) = ([], 0, 0) }
    }

    private func check(_ length: Int) throws(DeviceError) {
        guard length > Self.maximumLength else { return }
        throw DeviceError(
            .failure,
            "The device sent a line longer than \(Self.maximumLength) bytes. Does it end its lines with a line feed?")
    }
}
