import ArgumentParser
import Logging

/// `--log-level`.
struct LogLevelOption: ParsableArguments {
    @Option(
        name: .customLong("log-level"),
        help: "The least important messages that are logged: \(Logger.Level.names). Default: the configuration's.",
        transform: { text in
            guard let level = Logger.Level(rawValue: text) else {
                throw ValidationError("There is no level \(text): \(Logger.Level.names).")
            }
            return level
        })
    var level: Logger.Level?
}

extension Logger.Level {
    fileprivate static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
