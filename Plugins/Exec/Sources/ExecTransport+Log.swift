import Logging
import Subprocess

extension ExecTransport {
    /// Logs a program's standard error, one message per line, until the program ends.
    func log(_ errors: SubprocessOutputSequence, to logger: Logger) async {
        var lines = LogLines()
        do {
            for try await buffer in errors {
                for line in buffer.withUnsafeBytes({ lines.take($0) }) { write(line, to: logger) }
            }
        } catch {
            logger.warning(
                "The program's standard error cannot be read; the rest of it is not logged.",
                metadata: ["error": "\(error)"])
        }
        if let line = lines.finish() { write(line, to: logger) }
    }

    private func write(_ line: LogLines.Line, to logger: Logger) {
        var metadata: Logger.Metadata = ["exec.program": "\(program.name)"]
        if line.cut > 0 { metadata["exec.cut_bytes"] = "\(line.cut)" }
        logger.log(level: line.level, "\(line.text)", metadata: metadata)
    }
}
