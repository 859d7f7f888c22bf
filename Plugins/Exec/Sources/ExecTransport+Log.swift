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

/// Limits how fast a program's standard error is read. A program that writes faster has to wait, as if it wrote to a slow
/// terminal.
struct ReadingRate {
    /// The bytes that are read in a turn: 8 MiB in a second, which is far more than a person reads and costs little.
    static let bytesPerTurn = 800 << 10
    /// What the lines of a read count as at least, in bytes for each: a program that writes only short or empty lines costs as little as
    /// others. It is some 250,000 lines a second.
    static let bytesOfLine = 32
    /// A turn. It is short, since the end of a program waits for the rest of its standard error.
    static let turn: Duration = .milliseconds(100)

    private var start: Duration?
    private var bytes = 0

    /// Notes that bytes were read at a steady time, and how many lines ended in them. Returns how long to wait before the next read.
    mutating func pause(after count: Int, lines: Int, at now: Duration) -> Duration? {
        let begun = start.flatMap { now - $0 < Self.turn ? $0 : nil }
        if begun == nil { bytes = 0 }
        let start = begun ?? now
        self.start = start
        bytes += max(count, lines * Self.bytesOfLine)
        guard bytes > Self.bytesPerTurn else { return nil }
        // Many lines at once take several turns.
        return Self.turn * ((bytes - 1) / Self.bytesPerTurn) - (now - start)
    }
}
