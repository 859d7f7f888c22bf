package import Logging

/// A log handler that hands every message to a closure, with the metadata of logger and message as text.
package struct ForwardingLogHandler: LogHandler {
    private let receive: @Sendable (_ level: Logger.Level, _ message: String, _ metadata: [String: String]) -> Void
    package var logLevel: Logger.Level = .trace
    package var metadata: Logger.Metadata = [:]

    package init(
        _ receive: @escaping @Sendable (_ level: Logger.Level, _ message: String, _ metadata: [String: String]) -> Void
    ) {
        self.receive = receive
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { _, own in own }
        receive(event.level, "\(event.message)", all.mapValues { "\($0)" })
    }
}
