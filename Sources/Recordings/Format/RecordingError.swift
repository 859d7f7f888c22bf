/// Why a recording cannot be read, or is not the wanted one.
package enum RecordingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file cannot be opened or read, for this reason.
    case unreadable(path: String, reason: String)
    /// The file is longer than a recording can be.
    case tooLong(path: String, limit: Int)
    /// The first line is not that of a recording.
    case noRecording(path: String)
    /// Another version of the format.
    case otherVersion(path: String, Int)
    /// The last line has no end: the file was cut.
    case torn(path: String, line: Int)
    /// A line is wrong.
    case damaged(path: String, line: Int, reason: String)
    /// The disk was too slow when it was recorded, so that lines are missing.
    case incomplete(path: String, line: Int, lost: Int)
    /// The device is not in it; these are.
    case foreign(path: String, device: String, known: [String])

    /// Whether the file is right, and another device is in it.
    package var isOfDevice: Bool { if case .foreign = self { true } else { false } }

    /// What is wrong, and what to do.
    package var description: String {
        switch self {
        case .unreadable(let path, let reason): "The recording \(path) \(reason)"
        case .tooLong(let path, let limit):
            "\(path) is longer than \(limit) bytes, the most that a recording can have."
        case .noRecording(let path):
            "\(path) is no recording: its first line must begin with {\"vitals2mqtt_recording\":. Make one with run --record."
        case .otherVersion(let path, let version):
            "\(path) has version \(version) of the format, this gateway reads \(Recording.version). Record it again, or use "
                + "the gateway that made it."
        case .torn(let path, let line):
            "\(path) is cut off in line \(line). Remove this line to replay what is before it."
        case .damaged(let path, let line, let reason): "\(path), line \(line): \(reason)"
        case .incomplete(let path, let line, let lost):
            "\(path), line \(line): \(lost) lines are missing, since the disk was too slow. Record it again on another disk."
        case .foreign(let path, let device, let known):
            "\(path) has no link of \(device). "
                + (known.isEmpty
                    ? "It has none at all."
                    : "It has links of \(known.joined(separator: ", ")): name one of them as device.")
        }
    }
}
