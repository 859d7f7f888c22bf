package import Logging

/// Records log messages for a test.
package final class LogRecorder: Sendable {
    /// A message with its level and metadata.
    package struct Entry: Sendable, Hashable {
        /// The log level.
        package var level: Logger.Level
        /// The message.
        package var message: String
        /// The metadata, as text.
        package var metadata: [String: String]
    }

    private let recorded = Recorder<Entry>()

    /// A recorder without entries.
    package init() {}

    /// The entries so far, oldest first.
    package var entries: [Entry] { recorded.elements }

    /// Returns the entries as soon as they fulfil `condition`.
    /// - Throws: `CancellationError` when the task is cancelled meanwhile.
    @discardableResult
    package func wait(until condition: @escaping @Sendable ([Entry]) -> Bool) async throws -> [Entry] {
        try await recorded.wait(until: condition)
    }

    /// A logger for all levels that writes here.
    package var logger: Logger {
        var logger = Logger(label: "test") { _ in
            ForwardingLogHandler { level, message, metadata in
                self.recorded.append(Entry(level: level, message: message, metadata: metadata))
            }
        }
        logger.logLevel = .trace
        return logger
    }
}
