import Foundation
package import GatewayKit

/// The inputs for reading the parts of a configuration, beside their own keys.
package struct ReadingContext {
    /// The folder of the configuration file, the base of relative paths.
    package let directory: String
    /// The environment, for secrets.
    package let environment: [String: String]
    /// The available drivers and transports.
    package let plugins: PluginCatalogue
    /// Warnings: allowed but probably unintended settings.
    package private(set) var warnings: [ConfigurationMistake] = []

    /// A context of a file in `directory`.
    package init(directory: String, environment: [String: String], plugins: PluginCatalogue) {
        self.directory = directory
        self.environment = environment
        self.plugins = plugins
    }

    /// A path of the configuration as an absolute one: relative to the file, and `~` is not expanded.
    package func path(_ text: String) -> String {
        text.hasPrefix("/") ? text : URL(filePath: directory).appending(path: text).standardizedFileURL.path
    }

    /// Adds a warning about an allowed but probably unintended setting.
    mutating func warn(_ message: String, at key: String, of reader: ConfigurationReader) {
        let path = reader.path.isEmpty ? key : "\(reader.path).\(key)"
        warnings.append(ConfigurationMistake(line: reader.line(of: key), path: path, message: message))
    }
}
