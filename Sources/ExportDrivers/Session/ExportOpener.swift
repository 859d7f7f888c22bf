import Exports
import GatewayKit
import Vitals

/// Looks for new exports, and copies, checks and reads them, apart from the export that is in use: that takes seconds, and
/// minutes on a small board.
actor ExportOpener {
    nonisolated private let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let format: any ExportFormat
    private var watch = ExportWatch()
    /// Why the file that is there cannot be used.
    private(set) var rejection: ExportError?

    /// What a look found.
    enum Finding {
        case nothing
        case lookAgain(Duration)
        case export(OpenExport)
    }

    init(_ format: any ExportFormat, executor: any SerialExecutor) {
        self.format = format
        self.executor = executor
    }

    /// Looks once, and reads the export that is there if it is new and whole.
    func look(_ context: SessionContext) throws(ExportError) -> sending Finding {
        let stamp = try format.place.newest()
        switch watch.see(stamp, at: context.clock.uptime) {
        case .rest: return .nothing
        case .lookAgain(let pause): return .lookAgain(pause)
        case .read(let stamp):
            do throws(ExportError) {
                let export = try OpenExport(stamp, format, context)
                watch.judge(stamp)
                rejection = nil
                return .export(export)
            } catch {
                // What the machine prevents may succeed with the same file; everything else needs another one.
                if error.code != .unavailable {
                    watch.judge(stamp)
                    rejection = error
                }
                throw error
            }
        }
    }
}
