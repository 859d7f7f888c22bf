import Concurrency
import GatewayKit
import Logging
import Synchronization
import Vitals

/// Where the exports of a phone appear, and what is known of them, over all sessions of the device.
final class ExportInput: Sendable {
    /// How often the place is checked while a session is open.
    static let interval: Duration = .minutes(1)
    /// At which shares of a file the log says how far it is.
    static let progress = 0.1
    /// The note that says how far an export was taken.
    static let note = "apple-export"

    let place: ExportPlace
    private struct State {
        var watch = ExportWatch()
        var notice = RepeatedNotice()
        var isReading = false
    }
    private let state = Mutex(State())

    /// - Parameter path: a file, or a folder whose newest file counts.
    init(path: String) { place = Self.place(path) }

    /// Where exports are below a path. An export that a person has unpacked is taken, too.
    static func place(_ path: String) -> ExportPlace { ExportPlace(path: path, names: [], extensions: ["zip", "xml"]) }

    /// Whether an export is read just now.
    var isReading: Bool { state.withLock { $0.isReading } }

    // Their locks must not be inlined where a wait lies between them: Decision 165.
    @inline(never)
    func setReading(_ isReading: Bool) { state.withLock { $0.isReading = isReading } }

    /// Checks once for an export that has not been read. Whoever finds one reads it, unless it is a `preview`.
    @inline(never)
    func check(at uptime: Duration, preview: Bool = false) throws(ExportError) -> ExportCheck<FileStamp> {
        let stamp = try place.newest()
        return state.withLock { state in
            let found = state.watch.observe(stamp, at: uptime)
            if case .found(let stamp) = found, !preview { state.watch.markChecked(stamp) }
            return found
        }
    }

    /// Notes that an export was taken before.
    @inline(never)
    func markChecked(_ stamp: FileStamp) { state.withLock { $0.watch.markChecked(stamp) } }

    /// Lets an export be read again that was not finished.
    @inline(never)
    func forget() { state.withLock { $0.watch = ExportWatch() } }

    @inline(never)
    func isDue(_ problem: String, at uptime: Duration) -> Bool {
        state.withLock { $0.notice.isDue(problem, at: uptime) }
    }
}

/// How far an export was taken, as a driver's note: the file, what was wanted of it, and the byte before which all is durable.
struct ExportMark: Sendable, Hashable {
    var file: String
    var position: Int64 = 0
    var isDone = false

    /// The beginning of a file, of which these metrics are taken, and the counts of this source, or of all.
    init(_ bytes: ExportBytes, metrics: Set<Metric>, source: String?) {
        let stamp = bytes.stamp
        let wanted = "\(metrics.map(\.rawValue).sorted()) \(source ?? "")"
        file = "\(stamp.size) \(stamp.modified) \(bytes.checksum) \(SampleOrigin.number(of: wanted))"
    }

    /// The mark that a note has of the same file; the beginning if it has none.
    mutating func resume(from note: [UInt8]?) {
        let parts = note.map { String(decoding: $0, as: UTF8.self).split(separator: "|") } ?? []
        guard parts.count == 3, parts[0] == file, let position = Int64(parts[1]), position >= 0 else { return }
        (self.position, isDone) = (position, parts[2] == "done")
    }

    /// The note.
    var note: [UInt8] { Array("\(file)|\(position)|\(isDone ? "done" : "open")".utf8) }
}
