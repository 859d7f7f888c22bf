import Foundation
import GatewayKit

/// Reads configuration files. It opens other files only to check them: secrets and certificates.
package struct ConfigurationLoader: Sendable {
    private let plugins: PluginCatalogue
    private let environment: [String: String]

    /// Creates a loader with these plugins. `environment` may contain secrets.
    package init(plugins: PluginCatalogue, environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.plugins = plugins
        self.environment = environment
    }

    /// Reads a configuration file.
    /// - Throws: every mistake with its line; a file that cannot be read is one mistake without a line.
    package func load(_ path: String) throws(ConfigurationError) -> GatewayConfiguration {
        let text: String
        do throws(TextFileError) {
            text = try TextFile.read(path, limit: ConfigurationLimits.fileSize)
        } catch {
            let line = if case .notText(_, let line) = error { line } else { 0 }
            throw ConfigurationError(mistakes: [
                ConfigurationMistake(line: line, path: "", message: "The configuration file \(error.reason)")
            ])
        }
        let directory = URL(filePath: path).absoluteURL.deletingLastPathComponent().path
        return try load(text: text, directory: directory)
    }

    /// Reads a configuration from text, as if it were a file in `directory`.
    /// - Throws: every mistake with its line.
    package func load(text: String, directory: String) throws(ConfigurationError) -> GatewayConfiguration {
        try GatewayConfiguration(
            try YAMLDocument(text).root,
            place: ConfigurationPlace(directory: directory, environment: environment), plugins: plugins)
    }
}
