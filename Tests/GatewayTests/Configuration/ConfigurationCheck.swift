import Foundation
import Gateway
import GatewayKit
import Testing

/// Reads a configuration with the test plugins.
func load(
    _ text: String, in directory: String = "/nowhere", environment: [String: String] = [:]
) throws(ConfigurationError) -> GatewayConfiguration {
    let loader = ConfigurationLoader(plugins: TestPlugin.catalogue, environment: environment)
    return try loader.load(text: text, directory: directory)
}

/// The errors of a configuration, as shown to a user.
func issues(
    _ text: String, in directory: String = "/nowhere", environment: [String: String] = [:]
) -> [String] {
    do throws(ConfigurationError) {
        _ = try load(text, in: directory, environment: environment)
        return []
    } catch {
        return error.issues.map { $0.text(file: nil) }
    }
}

/// A folder that is removed after the test.
func withFolder<Result>(_ body: (_ path: String) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "vitals2mqtt-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder.path)
}

/// Writes a file with these permissions, and returns its path.
@discardableResult
func write(_ text: String, to name: String, in folder: String, permissions: Int = 0o600) throws -> String {
    let path = "\(folder)/\(name)"
    try Data(text.utf8).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    return path
}

/// A commented configuration where every disabled key is a key, and how many were disabled: `#` directly before a key disables
/// it, `# ` begins an explanation.
func switchedOn(_ sample: String) -> (text: String, count: Int) {
    var count = 0
    let lines = sample.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
        let indentation = line.prefix { $0 == " " }
        let rest = line.dropFirst(indentation.count)
        guard rest.hasPrefix("#"), !rest.hasPrefix("# "), rest != "#" else { return String(line) }
        count += 1
        return String(indentation + rest.dropFirst())
    }
    return (lines.joined(separator: "\n"), count)
}
