import GatewayKit
import Logging
import Synchronization
import Vitals
package import Web

/// The newest lines of the log, for the page of the gateway. Lines below `info` are not among them: they may have values of health.
package final class LogMemory: Sendable {
    /// The most lines that are remembered.
    static let maximum = 200

    /// The lines of the log on standard error, of which a process has one.
    static let process = LogMemory()

    private let kept = Mutex<[LogLine]>([])

    package init() {}

    /// The lines, the last one first.
    package var lines: [LogLine] { kept.withLock { $0.reversed() } }

    /// Remembers a line.
    func add(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata, at time: Timestamp) {
        guard level >= .info else { return }
        let details = LogFormat.details(metadata)
        let line = LogLine(
            time: time, level: level.rawValue, text: message.printable, details: details.isEmpty ? nil : details)
        kept.withLock { kept in
            kept.append(line)
            if kept.count > Self.maximum { kept.removeFirst(kept.count - Self.maximum) }
        }
    }
}

/// What the page of the gateway shows beside its state: the newest lines of the log, and what the doctor says of the configuration.
struct ConfiguredInspector: GatewayInspector {
    private let files: DeviceFiles
    private let memory: LogMemory

    /// - Parameter files: names the configuration file.
    init(of files: DeviceFiles, memory: LogMemory = .process) {
        self.files = files
        self.memory = memory
    }

    var log: [LogLine] { memory.lines }

    func examine() async -> [Finding] {
        await Doctor(of: files.configuration, with: files.loader).report().findings
    }
}
