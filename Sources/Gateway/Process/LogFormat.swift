import Foundation
package import Logging
package import Vitals

/// The format of a log line.
package enum LogFormat: Sendable, Hashable {
    /// `2026-11-21T07:31:04.120Z info vitals2mqtt: message key=value`
    case plain
    /// `<6>vitals2mqtt: message key=value`: journald adds the time itself, and reads the priority (sd-daemon(3)).
    case journal

    /// The format for standard error: journald's if it goes straight to the journal.
    ///
    /// systemd sets `JOURNAL_STREAM` to the device and inode of the stream (systemd.exec(5)); they differ if the output
    /// was redirected later.
    package static func fitting(environment: [String: String], errorStream: (device: UInt64, inode: UInt64)?)
        -> LogFormat
    {
        guard let errorStream, let stream = environment["JOURNAL_STREAM"] else { return .plain }
        return stream == "\(errorStream.device):\(errorStream.inode)" ? .journal : .plain
    }

    /// A log line with its newline. Control characters are escaped, so a message is always one line and data from a
    /// device cannot imitate a line of the gateway.
    package func line(
        _ level: Logger.Level, label: String, message: String, metadata: Logger.Metadata, at time: Timestamp
    ) -> String {
        var line =
            switch self {
            case .plain: "\(time) \(level.rawValue) "
            case .journal: "<\(level.priority)>"
            }
        line += "\(label): \(Self.escaped(message))"
        let details = Self.details(metadata)
        return "\(line)\(details.isEmpty ? "" : " ")\(details)\n"
    }

    /// `key=value` of each, in the order of the keys.
    static func details(_ metadata: Logger.Metadata) -> String {
        metadata.sorted { $0.key < $1.key }.map { "\(escaped($0.key))=\(quoted("\($0.value)"))" }
            .joined(separator: " ")
    }

    private static func quoted(_ text: String) -> String {
        let needsQuotes = text.isEmpty || text.contains { $0 == " " || $0 == "\"" || $0 == "=" }
        let text = escaped(text)
        return needsQuotes ? "\"\(text.replacing("\"", with: "\\\""))\"" : text
    }

    private static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isHidden) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            result += isHidden(scalar) ? scalar.escaped(asASCII: true) : String(scalar)
        }
    }

    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

extension Logger.Level {
    /// The priority of syslog (RFC 5424, 6.2.1).
    fileprivate var priority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
