import GatewayKit
import Vitals

/// A FIT file that is whole, and is read a second time for its samples: none of a damaged file is handed out.
final class FITFile {
    let stamp: FileStamp
    /// What it is known by, whatever its name.
    let digest: UInt64
    private var next: FITReader
    private(set) var samples: FITSamples
    private var isOver = false

    /// Checks a file from its first to its last byte.
    /// - Throws: `foreign`, `torn` or `tooLarge` with what is wrong with it.
    init(_ stamp: FileStamp, _ samples: FITSamples) throws(ExportError) {
        var check = FITReader(try FITBytes(stamp)) { _ in false }
        while try check.next() != nil {
            if Task.isCancelled { throw ExportError(.unavailable, "The reading of \(stamp.path) was cancelled.") }
        }
        try check.bytes.checkUnchanged()
        self.stamp = stamp
        digest = check.bytes.digest.value
        next = FITReader(try FITBytes(stamp)) { FITProfile.Message(rawValue: $0) != nil }
        self.samples = samples
    }

    /// Files in the order in which they were begun, since running counts go on from file to file.
    static func inOrder(_ files: [FileStamp]) -> [FileStamp] {
        let begun = files.map { (created: created($0), stamp: $0) }
        return begun.sorted { ($0.created, $0.stamp.path) < ($1.created, $1.stamp.path) }.map(\.stamp)
    }

    /// When a file was begun, in seconds since 1989-12-31, by its first message; 0 where it does not say it.
    private static func created(_ stamp: FileStamp) -> Int64 {
        guard let bytes = try? FITBytes(stamp) else { return 0 }
        var reader = FITReader(bytes) { $0 == FITProfile.Message.fileID.rawValue }
        guard let first = try? reader.next(), first.number == FITProfile.Message.fileID.rawValue else { return 0 }
        return first.integer(FITProfile.FileID.created) ?? 0
    }

    /// The next samples, about so many; `nil` at the end.
    /// - Throws: `foreign` at the end of a file of which no time can be, `torn` if it changed since it was checked.
    func portion(_ count: Int) throws(ExportError) -> [Sample]? {
        while samples.ready.count < count, !isOver {
            if let message = try next.next() {
                samples.add(message)
            } else {
                samples.end()
                isOver = true
                try next.bytes.checkUnchanged()
                let lost = samples.skipped.counts.values.reduce(0) { $0 + ($1[.withoutTime] ?? 0) }
                if samples.count == 0, lost > 0 {
                    throw ExportError(
                        .foreign,
                        "\(stamp.path) has only times before 2000: the clock of its device was not set. Set it; these values "
                            + "have no time, and are not taken.")
                }
            }
        }
        guard !samples.ready.isEmpty else { return nil }
        defer { samples.ready = [] }
        return samples.ready
    }
}
