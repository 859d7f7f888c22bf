import GatewayKit
import Vitals

/// Looks for new exports, and copies, checks and reads them, apart from the export that is in use: that takes seconds, and
/// minutes on a small board.
actor ExportOpener {
    nonisolated private let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let format: any ExportFormat
    private var watch = ExportWatch()
    /// The file of the export in use.
    private var inUse: FileStamp?
    /// Files as they were when they turned out to be no export of this app, or torn: an older one of the folder counts, until
    /// these change.
    private var passedOver: Set<FileStamp> = []
    /// How many files are passed over at most, before all are checked again.
    static let maximumPassedOver = 64
    /// Whether the last check found no file, although one is in use.
    private var isGone = false
    /// Why the present file cannot be used.
    private(set) var rejection: ExportError?

    init(_ format: any ExportFormat, executor: any SerialExecutor) {
        self.format = format
        self.executor = executor
    }

    /// Says what the present export has of the device, and changes nothing.
    /// - Parameter from: where a first synchronisation begins; `nil` if it reads everything.
    func examine(from: Timestamp?, _ context: SessionContext) -> [Finding] {
        let subject = context.device.text
        do throws(ExportError) {
            let stamp = try format.place.newest()
            let export = try OpenExport(stamp, format, context)
            guard let newest = export.extents.values.map(\.last).max() else {
                return [Finding(.warning, subject, OpenExport.emptiness(of: stamp.path))]
            }
            if let from, newest < from {
                return [
                    Finding(
                        .warning, subject,
                        "The newest record of \(stamp.path) is of \(newest), and a first synchronisation reads those since "
                            + "\(from). Set sync: {first: all} to read older ones, or let the phone export again.")
                ]
            }
            let count = export.extents.values.reduce(0) { $0 + $1.count }
            let samples = count == 1 ? "1 sample" : "\(count) samples"
            return [Finding(.fine, subject, "\(stamp.path) has \(samples), the newest of \(newest).")]
        } catch {
            // It may be written just now.
            return [Finding(error.code == .torn ? .warning : .problem, subject, error.message)]
        }
    }

    /// Checks once, and reads the present export if it is new and whole.
    func check(_ context: SessionContext) throws(ExportError) -> sending ExportCheck<OpenExport> {
        let stamp: FileStamp
        do throws(ExportError) { stamp = try format.place.newest(besides: passedOver) } catch {
            // All files that are there were passed over.
            guard !passedOver.isEmpty, (try? format.place.newest()) != nil else {
                // Syncthing takes the old file away a moment before the new one gets its name.
                guard inUse != nil, error.code == .missing, !isGone else { throw error }
                isGone = true
                return .retryAfter(ExportWatch.stillness)
            }
            guard inUse == nil else { return .nothing }
            throw rejection ?? error
        }
        isGone = false
        guard stamp != inUse else { return .nothing }
        switch watch.observe(stamp, at: context.clock.uptime) {
        case .nothing: return .nothing
        case .retryAfter(let pause): return .retryAfter(pause)
        case .found(let stamp):
            do throws(ExportError) {
                let export = try OpenExport(stamp, format, context)
                watch.markChecked(stamp)
                rejection = nil
                inUse = stamp
                return .found(export)
            } catch {
                // What the machine prevents may succeed with the same file; everything else needs another one.
                guard error.code != .unavailable else { throw error }
                watch.markChecked(stamp)
                rejection = rejection ?? error
                guard format.place.isFolder else { throw error }
                if passedOver.count >= Self.maximumPassedOver { passedOver = [] }
                passedOver.insert(stamp)
                // While there is none, an older file may be whole, or of this app.
                guard inUse == nil, (try? format.place.newest(besides: passedOver)) != nil else { throw error }
                return .retryAfter(ExportWatch.stillness)
            }
        }
    }
}
