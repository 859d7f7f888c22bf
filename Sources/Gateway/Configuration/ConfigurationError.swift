package import GatewayKit

/// Why a configuration cannot be used: all its errors.
package struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The errors, at least one, in the order of their lines: first those of the configuration file, then those of each other file.
    package let issues: [ConfigurationIssue]

    /// Collects a configuration's errors; beyond `ConfigurationLimits.issues` it only counts them.
    package init(issues: [ConfigurationIssue]) {
        let sorted = issues.enumerated().sorted { a, b in
            (a.element.file ?? "", a.element.line, a.offset) < (b.element.file ?? "", b.element.line, b.offset)
        }.map(\.element)
        let limit = ConfigurationLimits.issues
        self.issues =
            sorted.count <= limit
            ? sorted
            : sorted.prefix(limit) + [
                ConfigurationIssue(line: 0, path: "", message: "There are \(sorted.count - limit) more errors.")
            ]
    }

    /// The same errors, each as `change` makes it.
    package func map(_ change: (ConfigurationIssue) -> ConfigurationIssue) -> ConfigurationError {
        ConfigurationError(sorted: issues.map(change))
    }

    private init(sorted: [ConfigurationIssue]) { issues = sorted }

    /// One line for each error.
    package var description: String { text(file: nil) }

    /// One line for each error, as compilers write them: `FILE:LINE: path: message`.
    package func text(file: String?) -> String { issues.map { $0.text(file: file) }.joined(separator: "\n") }
}

extension ConfigurationIssue {
    /// The error in the format of compilers: `FILE:LINE: path: message`, as far as known, where `file` is the configuration file.
    package func text(file main: String?) -> String {
        let place = [file ?? main, line > 0 ? "\(line)" : nil].compactMap(\.self).joined(separator: ":")
        return [place, path, message].filter { !$0.isEmpty }.joined(separator: ": ")
    }
}
