import Recordings
import Vitals

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
