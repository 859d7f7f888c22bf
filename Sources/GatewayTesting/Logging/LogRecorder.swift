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
        var logger = Logger(label: "test") { _ in Handler(recorder: self) }
        logger.logLevel = .trace
        return logger
    }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var logLevel: Logger.Level = .trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { _, own in own }
            let entry = Entry(
                level: event.level, message: "\(event.message)", metadata: all.mapValues { "\($0)" })
            recorder.recorded.append(entry)
        }
    }
}
