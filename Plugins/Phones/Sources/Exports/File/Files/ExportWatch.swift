import Vitals

/// Decides when a file is worth reading: it has changed, and then stood still for some seconds.
///
/// A phone's export is written in place, slowly, over a network. A file that still grows is torn for certain.
package struct ExportWatch: Sendable {
    /// How long size and time of a file must not change before it is read.
    package static let stillness: Duration = .seconds(5)

    private var checked: FileStamp?
    private var moving: (stamp: FileStamp, since: Duration)?

    package init() {}

    /// Takes a check's result, at a moment of a steady clock. Finds the file when it is to be read.
    package mutating func observe(_ stamp: FileStamp, at uptime: Duration) -> ExportCheck<FileStamp> {
        guard stamp != checked else {
            moving = nil
            return .nothing
        }
        guard let moving, moving.stamp == stamp else {
            moving = (stamp, uptime)
            return .retryAfter(Self.stillness)
        }
        let rest = moving.since + Self.stillness - uptime
        return rest > .zero ? .retryAfter(rest) : .found(stamp)
    }

    /// Notes that a file was read, or cannot be read as it is: it is not worth another check until it changes.
    package mutating func markChecked(_ stamp: FileStamp) {
        checked = stamp
        moving = nil
    }
}

/// What a check for a newer export came to.
package enum ExportCheck<Found> {
    /// There is nothing new.
    case nothing
    /// Check again after this time.
    case retryAfter(Duration)
    case found(Found)
}

extension ExportCheck: Equatable where Found: Equatable {}
extension ExportCheck: Sendable where Found: Sendable {}
