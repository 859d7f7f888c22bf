import GatewayKit

/// Cuts a stream of bytes into lines. The lines are ranges of `bytes`, so that nothing is copied for a line that came
/// in one piece.
struct LineSplitter {
    /// The longest line, in bytes without its end. A page of 2,000 samples takes about as much; a device that sends
    /// more than this without a line feed does not speak this protocol.
    static let maximumLength = 262_144

    /// What has been received and not been cut yet, with the lines that were cut last.
    private(set) var bytes: [UInt8] = []
    /// Where the next line begins.
    private var start = 0
    /// Up to where there is no line feed.
    private var scanned = 0

    /// Takes what was read. The ranges returned before are no longer valid.
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

    /// The next whole line without its end (`\n` or `\r\n`), `nil` when more must be read first. Empty lines are left out.
    /// - Throws: where a line is longer than `maximumLength`, whether its end has been seen or not.
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

    private func check(_ length: Int) throws(DeviceError) {
        guard length > Self.maximumLength else { return }
        throw DeviceError(
            .failure,
            "The device sent a line longer than \(Self.maximumLength) bytes. Does it end its lines with a line feed?")
    }
}
