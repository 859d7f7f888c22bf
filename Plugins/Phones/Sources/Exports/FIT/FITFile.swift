import GatewayKit
import Vitals

/// A FIT file that is whole, and is read a second time for its samples: none of a damaged file is handed out.
final class FITFile {
    let source: FITSource
    /// What it is known by, whatever its name.
    let digest: UInt64
    /// How many values fields of developers have, by their names.
    let foreign: [String: Int]
    private var next: FITReader
    private(set) var samples: FITSamples
    private var isOver = false

    /// Checks a file from its first to its last byte.
    /// - Throws: `foreign`, `torn` or `tooLarge` with what is wrong with it.
    init(_ source: FITSource, _ samples: FITSamples) throws(ExportError) {
        var check = FITReader(try FITBytes(source)) { _ in false }
        while try check.next() != nil {
            if Task.isCancelled { throw ExportError(.unavailable, "The reading of \(source.path) was cancelled.") }
        }
        try check.bytes.checkUnchanged()
        self.source = source
        digest = check.bytes.digest.value
        foreign = check.foreign
        next = FITReader(try FITBytes(source)) { FITProfile.Message(rawValue: $0) != nil }
        self.samples = samples
    }

    /// Files in the order in which they were begun, since running counts go on from file to file.
    static func inOrder(_ files: [FITSource]) -> [FITSource] {
        let begun = files.map { (created: created($0), source: $0) }
        return begun.sorted { ($0.created, $0.source.path) < ($1.created, $1.source.path) }.map(\.source)
    }

    /// When a file was begun, in seconds since 1989-12-31, by its first message; 0 where it does not say it.
    private static func created(_ source: FITSource) -> Int64 {
        guard let bytes = try? FITBytes(source) else { return 0 }
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
                        "\(source.path) has only times before 2000: the clock of its device was not set. Set it; these values "
                            + "have no time, and are not taken.")
                }
            }
        }
        guard !samples.ready.isEmpty else { return nil }
        defer { samples.ready = [] }
        return samples.ready
    }
}
