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
    private let write: @Sendable (String) -> Void

    /// Creates a log with this level that passes its lines to `write`.
    package init(
        level: Logger.Level, format: LogFormat, clock: GatewayClock, write: @escaping @Sendable (String) -> Void
    ) {
        threshold = Mutex(level)
        self.format = format
        self.clock = clock
        self.write = write
    }

    /// The log on standard error.
    package convenience init(level: Logger.Level, environment: [String: String]) {
        var status = stat()
        let stream = fstat(STDERR_FILENO, &status) == 0 ? (UInt64(status.st_dev), UInt64(status.st_ino)) : nil
        self.init(
            level: level, format: .fitting(environment: environment, errorStream: stream), clock: .system
        ) { line in
            // A log without a reader must not stop the gateway.
            try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
        }
    }

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
            log.write(
                log.format.line(
                    event.level, label: label, message: event.message.description, metadata: all, at: log.clock.now))
        }
    }
}
