import Foundation
package import GatewayKit

/// What the parts of a configuration need while they are read, beside their own keys.
package struct ReadingContext {
    /// The folder of the configuration file, from which relative paths begin.
    package let directory: String
    /// The environment, for secrets.
    package let environment: [String: String]
    /// The drivers and transports that there are.
    package let plugins: PluginCatalogue
    /// What is allowed but probably not meant.
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

    /// Notes something that is allowed but probably not meant.
    mutating func warn(_ message: String, at key: String, of reader: ConfigurationReader) {
        let path = reader.path.isEmpty ? key : "\(reader.path).\(key)"
        warnings.append(ConfigurationMistake(line: reader.line(of: key), path: path, message: message))
    }
}
