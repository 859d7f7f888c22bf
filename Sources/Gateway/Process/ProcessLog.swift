import Foundation
import GatewayKit
import Glibc
package import Logging
import Synchronization
package import Vitals

/// The log of the process: every line goes to standard error. One level applies to all loggers and can change while the
/// gateway runs.
package final class ProcessLog: Sendable {
    /// The label of the gateway's loggers.
    package static let label = "vitals2mqtt"

    private let threshold: Mutex<Logger.Level>
    private let format: LogFormat
    private let clock: GatewayClock
    private let write: @Sendable (Logger.Level, String) -> Void
    private let flushLines: @Sendable () -> Void
    private let memory: LogMemory?

    /// Creates a log with this level that passes its lines to `write`. `flush` waits for a limited time until all of
    /// them are written.
    /// - Parameter memory: remembers the newest lines.
    package init(
        level: Logger.Level, format: LogFormat, clock: GatewayClock, memory: LogMemory? = nil,
        write: @escaping @Sendable (Logger.Level, String) -> Void, flush: @escaping @Sendable () -> Void = {}
    ) {
        threshold = Mutex(level)
        self.format = format
        self.clock = clock
        self.memory = memory
        self.write = write
        flushLines = flush
    }

    /// The log on standard error. A caller never waits for a write, so `flush` has to be called at the end.
    package convenience init(level: Logger.Level, environment: [String: String]) {
        var status = stat()
        let stream = fstat(STDERR_FILENO, &status) == 0 ? (UInt64(status.st_dev), UInt64(status.st_ino)) : nil
        let format = LogFormat.fitting(environment: environment, errorStream: stream)
        let clock = GatewayClock.system
        let writer = LogWriter(descriptor: STDERR_FILENO) { skipped in
            format.line(
                .warning, label: Self.label, message: "The log was read too slowly; lines were skipped.",
                metadata: ["log.skipped": "\(skipped)"], at: clock.now)
        }
        self.init(
            level: level, format: format, clock: clock, memory: .process,
            write: { level, line in writer.write(line, isUrgent: level >= .warning) }, flush: { writer.flush() })
    }

    /// Waits until all lines are written, for a limited time. It blocks its thread: call it at the end of the process.
    package func flush() { flushLines() }

    /// The least important level that is written.
    package var level: Logger.Level {
        get { threshold.withLock { $0 } }
        set { threshold.withLock { $0 = newValue } }
    }

    /// A logger that writes to this log.
    package func logger(label: String = ProcessLog.label) -> Logger { Logger(label: label) { self.handler(label: $0) } }

    /// A handler for `LoggingSystem.bootstrap`.
    package func handler(label: String) -> any LogHandler { Handler(log: self, label: label) }

    private struct Handler: LogHandler {
        let log: ProcessLog
        let label: String
        var metadata: Logger.Metadata = [:]
        var metadataProvider: Logger.MetadataProvider?
        private var ownLevel: Logger.Level?

        init(log: ProcessLog, label: String) {
            self.log = log
            self.label = label
        }

        var logLevel: Logger.Level {
            get { ownLevel ?? log.level }
            set { ownLevel = newValue }
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            var all = metadata
            if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
            if let own = event.metadata { all.merge(own) { $1 } }
            if let error = event.error { all["error"] = "\(error)" }
            let (message, now) = (event.message.description, log.clock.now)
            log.write(
                event.level, log.format.line(event.level, label: label, message: message, metadata: all, at: now))
            log.memory?.add(event.level, message, all, at: now)
        }
    }
}
