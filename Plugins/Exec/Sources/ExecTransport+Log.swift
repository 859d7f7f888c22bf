import Concurrency
import Logging
import Subprocess
import Synchronization

extension ExecTransport {
    /// Logs a program's standard error, one message per line, until the program ends. Of a flood it logs a part, and
    /// says within a second how many lines it skipped.
    func log(_ errors: SubprocessOutputSequence, to logger: Logger) async {
        let lines = ErrorLines(program: program.name, logger: logger)
        await withTaskGroup { group in
            group.addTask { await lines.logSkipped() }
            do {
                for try await buffer in errors {
                    // A cancelled task reads on without pauses, to the end.
                    if let pause = buffer.withUnsafeBytes({ lines.write($0) }) { try? await Task.sleep(for: pause) }
                }
            } catch {
                logger.warning(
                    "The program's standard error cannot be read; the rest of it is not logged.",
                    metadata: ["error": "\(error)"])
            }
            group.cancelAll()
        }
        lines.writeRest()
    }
}

/// The standard error of one run of a program, on its way into the log.
private final class ErrorLines: Sendable {
    private let lines = Mutex(LogLines())
    private let skips = Signal()
    private let rate = Mutex(ReadingRate())
    private let program: String
    private let logger: Logger
    private let clock = ContinuousClock()
    private let start = ContinuousClock.now

    init(program: String, logger: Logger) {
        self.program = program
        self.logger = logger
    }

    /// Logs the lines that are complete. Returns how long to wait before reading more.
    func write(_ bytes: UnsafeRawBufferPointer) -> Duration? {
        let now = start.duration(to: clock.now)
        let (found, skips, ends) = lines.withLock { ($0.append(bytes, at: now), $0.hasSkipped, $0.takeEnds()) }
        for line in found { write(line) }
        if skips { self.skips.wake() }
        return rate.withLock { $0.pause(after: bytes.count, lines: ends, at: now) }
    }

    /// Says once a second how many lines were skipped, until the task is cancelled.
    func logSkipped() async {
        while !Task.isCancelled {
            await skips.wait()
            do { try await clock.sleep(for: .seconds(1)) } catch { return }
            report()
        }
    }

    /// Logs the last line, and how many were skipped.
    func writeRest() {
        let line = lines.withLock { $0.completeLine() }
        if let line { write(line) }
        report()
    }

    private func report() {
        let count = lines.withLock { $0.takeSkipped() }
        guard count > 0 else { return }
        logger.warning(
            "The program writes too many lines to its standard error; some were skipped.",
            metadata: ["exec.program": "\(program)", "exec.skipped": "\(count)"])
    }

    private func write(_ line: LogLines.Line) {
        var metadata: Logger.Metadata = ["exec.program": "\(program)"]
        if line.cut > 0 { metadata["exec.cut_bytes"] = "\(line.cut)" }
        logger.log(level: line.level, "\(line.text)", metadata: metadata)
    }
}
