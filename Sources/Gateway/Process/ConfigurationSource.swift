/// The source of a process's configuration.
package enum ConfigurationSource: Sendable, Hashable {
    /// A file, read again for each reload.
    case file(String)
    /// A text with a folder as base of its relative paths.
    case text(String, directory: String)

    /// The file's name, for messages.
    package var name: String? { if case .file(let path) = self { path } else { nil } }
}

extension ConfigurationLoader {
    /// Reads the configuration.
    /// - Throws: every error with its line.
    package func load(_ source: ConfigurationSource) throws(ConfigurationError) -> GatewayConfiguration {
        switch source {
        case .file(let path): try load(path)
        case .text(let text, let directory): try load(text: text, directory: directory)
        }
    }
}
