package import GatewayKit

/// Why a configuration cannot be used: all its mistakes.
package struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The mistakes, at least one, in the order of their lines.
    package let mistakes: [ConfigurationMistake]

    /// Collects a configuration's mistakes; beyond `ConfigurationLimits.mistakes` it only counts them.
    package init(mistakes: [ConfigurationMistake]) {
        let sorted = mistakes.enumerated().sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }
            .map(\.element)
        let limit = ConfigurationLimits.mistakes
        self.mistakes =
            sorted.count <= limit
            ? sorted
            : sorted.prefix(limit) + [
                ConfigurationMistake(line: 0, path: "", message: "There are \(sorted.count - limit) more mistakes.")
            ]
    }

    /// One line for each mistake.
    package var description: String { text(file: nil) }

    /// One line for each mistake, as compilers write them: `FILE:LINE: path: message`.
    package func text(file: String?) -> String { mistakes.map { $0.text(file: file) }.joined(separator: "\n") }
}

extension ConfigurationMistake {
    /// The mistake in the format of compilers: `FILE:LINE: path: message`, as far as known.
    package func text(file: String?) -> String {
        let place = [file, line > 0 ? "\(line)" : nil].compactMap(\.self).joined(separator: ":")
        return [place, path, message].filter { !$0.isEmpty }.joined(separator: ": ")
    }
}
