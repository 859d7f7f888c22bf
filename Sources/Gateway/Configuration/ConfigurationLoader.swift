import Foundation
import GatewayKit

/// Reads configuration files. It opens other files only to check them: secrets, certificates and recordings.
package struct ConfigurationLoader: Sendable {
    let plugins: PluginCatalogue
    private let environment: [String: String]

    /// Creates a loader with these plugins. `environment` may contain secrets.
    package init(plugins: PluginCatalogue, environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.plugins = plugins
        self.environment = environment
    }

    /// Reads a configuration file.
    /// - Throws: every error with its line; a file that cannot be read is one error without a line.
    package func load(_ path: String) throws(ConfigurationError) -> GatewayConfiguration {
        try load(path, changing: nil)
    }

    /// Reads a configuration file as if a file of `devices_from` were as it is after a change.
    /// - Throws: as `load`.
    func load(
        _ path: String, changing change: DeviceFolder.Change?
    ) throws(ConfigurationError) -> GatewayConfiguration {
        var place = ConfigurationPlace(directory: Self.directory(of: path), environment: environment)
        place.file = path
        var configuration = try load(text: try Self.text(of: path), place, changing: change)
        configuration.deviceFiles = DeviceFiles(of: path, loader: self)
        return configuration
    }

    /// Reads only `store:` of a configuration file: errors elsewhere, such as a secret's file that exists only while the
    /// service runs, do not matter.
    /// - Throws: the errors of `store:`, or why the file cannot be read.
    package static func store(in path: String) throws(ConfigurationError) -> StoreConfiguration {
        let root = try YAMLDocument(try text(of: path)).root
        var reader = ConfigurationReader(root, place: ConfigurationPlace(directory: directory(of: path)))
        let store = reader.section("store") { StoreConfiguration(&$0) }
        guard reader.issues.isEmpty else { throw ConfigurationError(issues: reader.issues) }
        return store
    }

    /// Reads only whose the samples of the store are.
    /// - Throws: the errors of what is read, or why the file cannot be read.
    package static func household(in path: String) throws(ConfigurationError) -> Household {
        var place = ConfigurationPlace(directory: directory(of: path))
        place.file = path
        let root = try YAMLDocument(try text(of: path)).root
        return try Household(root, DeviceFolder(of: root, place: place), place: place)
    }

    /// Reads only where `devices_from` of a configuration file is; `nil` if the file does not have it.
    /// - Throws: why the file cannot be read.
    static func deviceFolder(in path: String) throws(ConfigurationError) -> String? {
        let place = ConfigurationPlace(directory: directory(of: path))
        return DeviceFolder.path(in: try YAMLDocument(try text(of: path)).root, place)
    }

    private static func directory(of path: String) -> String {
        URL(filePath: path).absoluteURL.deletingLastPathComponent().path
    }

    private static func text(of path: String) throws(ConfigurationError) -> String {
        do throws(TextFileError) {
            return try TextFile.read(path, limit: ConfigurationLimits.fileSize)
        } catch {
            let line = if case .notText(_, let line) = error { line } else { 0 }
            let isMissing = !FileManager.default.fileExists(atPath: path)
            let hint = isMissing ? " Name another one with --config or the variable VITALS2MQTT_CONFIG." : ""
            throw ConfigurationError(issues: [
                ConfigurationIssue(line: line, path: "", message: "The configuration file \(error.reason)\(hint)")
            ])
        }
    }

    /// Reads a configuration from text, as if it were a file in `directory`.
    /// - Throws: every error with its line.
    package func load(text: String, directory: String) throws(ConfigurationError) -> GatewayConfiguration {
        try load(text: text, ConfigurationPlace(directory: directory, environment: environment), changing: nil)
    }

    private func load(
        text: String, _ place: ConfigurationPlace, changing change: DeviceFolder.Change?
    ) throws(ConfigurationError) -> GatewayConfiguration {
        let root = try YAMLDocument(text).root
        let folder = DeviceFolder(of: root, place: place, changing: change)
        do throws(ConfigurationError) {
            return try GatewayConfiguration(root, folder, place: place, plugins: plugins)
        } catch {
            guard error.issues.contains(where: { $0.strangeKey != nil }) else { throw error }
            let places = KeyPlaces(plugins)
            throw error.map { issue in
                let part = folder?.parts.first { $0.file == issue.file }
                return places.completed(issue, in: part?.root ?? root)
            }
        }
    }
}
